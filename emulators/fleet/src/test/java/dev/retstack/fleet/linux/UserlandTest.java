package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.CoreEnd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Static programs of glibc, on every ISA that Debian has one for: what they print, how they end and
 * how often their functions are called is what their twins say that count by themselves under
 * qemu-user. What is not installed is skipped. {@code -Dretstack.zoo=all} runs every convention.
 */
final class UserlandTest {
  private static final Path USERLAND =
      Path.of(System.getProperty("retstack.root"), "emulators", "guest", "userland");

  private static final String SCRIPT = USERLAND.resolve("build.sh").toString();
  private static final Map<String, String> ENVIRONMENT = Map.of("GREETING", "moin");

  /** Second conventions of an ISA: for the long form. */
  private static final Set<String> OTHERS =
      Set.of(
          "x86_64-mcount",
          "i386-fentry",
          "arm-mcount",
          "ppc64-mcount",
          "ppc64le-profile-kernel",
          "s390x-mcount");

  /** One for each word size and byte order. */
  private static final List<String> KINDS =
      List.of("x86_64-fentry", "arm-thumb-mcount", "s390x-fentry", "ppc32-mcount");

  private static final long SLICE = 1_000_000;
  private static final long SECONDS_MAX = 300;

  /** Where qemu's name of an ISA is not ours. */
  private static final Map<String, String> QEMU = Map.of("ppc32", "ppc");

  private static final String DOCUMENT =
      """
      {"name": "retst\\u00e4ck", "isas": ["x86_64", "m68k", {"bits": 32, "big": true}],
       "numbers": [0, -1.5, 6.02e23, 1e-9, 123456789012], "empty": {}, "none": null,
       "nested": [[[[1], 2], 3], "tab\\tquote\\"slash\\/"], "a": false, "Z": [true, true]}
      """;

  private static final Map<String, Path> PROGRAMS = new HashMap<>();
  private static final Map<Twin, Reference> REFERENCES = new HashMap<>();

  @TempDir static Path folder;

  /**
   * A program with what it is given.
   *
   * @param words its name, by which the file knows what to do, and its arguments
   * @param input standard input
   */
  record Task(List<String> words, String input) {
    static Task of(String line, String input) {
      return new Task(List.of(line.split(" ")), input);
    }

    @Override
    public String toString() {
      return String.join(" ", words);
    }
  }

  /** A program as one convention has it. */
  record Case(String variant, Task task) {
    String isa() {
      return variant.substring(0, variant.indexOf('-'));
    }

    @Override
    public String toString() {
      return variant + " " + task;
    }
  }

  /** A program that counts by itself, of an ISA, with what it is given. */
  private record Twin(String isa, Task task) {}

  /** What the twin did. */
  private record Reference(String stdout, int exitCode, Map<String, Integer> calls) {}

  private static final List<Task> TASKS =
      List.of(
          Task.of("hello a bcd ef", ""),
          Task.of("sortlines", "b\nzz\na\nm\nb\n"),
          Task.of("sortlines", ""),
          Task.of("recover 7 / 2 + 1", ""),
          Task.of("recover 7 / 0", ""),
          Task.of("qsort", ""),
          Task.of("printf", ""),
          Task.of("malloc", ""),
          Task.of("json", DOCUMENT),
          Task.of("json", "{\"a\": [1, 2"));

  static Stream<Case> cases() throws IOException, InterruptedException {
    List<Case> cases = new ArrayList<>();
    for (String variant : variants()) {
      TASKS.forEach(task -> cases.add(new Case(variant, task)));
    }
    return cases.stream();
  }

  private static List<String> variants() throws IOException, InterruptedException {
    List<String> all = run(List.of(SCRIPT, "--list"), "").lines();
    List<String> ofEachIsa = all.stream().filter(variant -> !OTHERS.contains(variant)).toList();
    return EachIsa.compiled(all, ofEachIsa, KINDS);
  }

  @BeforeAll
  static void build() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(SCRIPT, folder.toString()));
    command.addAll(variants());
    Output built = run(command, "");
    assertThat(built.exitCode).as(built.stderr).isZero();
    built.lines().stream().filter(line -> line.startsWith("skipped")).forEach(System.out::println);
    try (Stream<Path> files = Files.list(folder)) {
      files.forEach(file -> PROGRAMS.put(file.getFileName().toString(), file));
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void programDoesWhatItDoesUnderLinux(Case one) throws Exception {
    Path program = PROGRAMS.get(one.variant);
    Assumptions.assumeTrue(program != null, "skipped: no compiler for " + one.variant);
    Assumptions.assumeFalse(
        one.toString().equals("m68k-mcount printf"),
        "skipped: Unicorn 2.1.4 has the 68881 print infinity as nan");
    Reference reference = reference(one);

    HostedRun run = HostedRun.of(program, one.task.words(), ENVIRONMENT, one.task.input, SLICE);

    assertThat(run.result().ending().end())
        .as(run.result().ending().detail())
        .isEqualTo(CoreEnd.HALTED);
    assertThat(run.stdout()).isEqualTo(reference.stdout);
    assertThat(run.result().ending().exitCode()).isEqualTo(reference.exitCode);
    assertThat(run.calls()).isEqualTo(reference.calls);
    assertThat(run.stderr()).isEmpty();
    assertThat(run.result().unsupported()).isEmpty();
    assertThat(run.result().unhijackable()).isZero();
  }

  private static Reference reference(Case one) throws IOException, InterruptedException {
    Twin key = new Twin(one.isa(), one.task);
    if (!REFERENCES.containsKey(key)) {
      REFERENCES.put(key, underLinux(one));
    }
    return REFERENCES.get(key);
  }

  private static Reference underLinux(Case one) throws IOException, InterruptedException {
    String qemu = "qemu-" + QEMU.getOrDefault(one.isa(), one.isa());
    Assumptions.assumeTrue(GuestCompiler.installed(qemu), "skipped: no " + qemu);
    String twin = one.isa() + "-counted";
    List<String> words = one.task.words;
    List<String> command =
        new ArrayList<>(List.of(qemu, "-0", words.getFirst(), PROGRAMS.get(twin).toString()));
    command.addAll(words.subList(1, words.size()));
    Output output = run(command, one.task.input);
    Map<Long, String> names = names(PROGRAMS.get(twin + ".functions"));
    Map<String, Integer> calls = new TreeMap<>();
    for (String line : output.stderr.lines().toList()) {
      String[] count = line.split(" ", -1);
      long address = Long.parseUnsignedLong(count[0], 16);
      String name =
          names.getOrDefault(address, names.get(address & ~1)); // Thumb code: bit 0 is set
      calls.put(name, Integer.parseInt(count[1]));
    }
    return new Reference(output.stdout, output.exitCode, calls);
  }

  /** The output of nm: address, kind, name of each symbol. */
  private static Map<Long, String> names(Path symbols) throws IOException {
    Map<Long, String> names = new HashMap<>();
    for (String line : Files.readAllLines(symbols)) {
      String[] words = line.strip().split(" ", -1);
      if (words.length == 3) {
        names.put(Long.parseUnsignedLong(words[0], 16), words[2]);
      }
    }
    return names;
  }

  private record Output(int exitCode, String stdout, String stderr) {
    List<String> lines() {
      return stdout.lines().toList();
    }
  }

  private static Output run(List<String> command, String input)
      throws IOException, InterruptedException {
    Path stdin = Files.writeString(Files.createTempFile(folder, "stdin", ""), input);
    Path stdout = Files.createTempFile(folder, "stdout", "");
    Path stderr = Files.createTempFile(folder, "stderr", "");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(stdin.toFile())
            .redirectOutput(stdout.toFile())
            .redirectError(stderr.toFile());
    builder.environment().putAll(ENVIRONMENT);
    Process process = builder.start();
    if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(String.join(" ", command) + " does not end");
    }
    return new Output(process.exitValue(), Files.readString(stdout), Files.readString(stderr));
  }
}
