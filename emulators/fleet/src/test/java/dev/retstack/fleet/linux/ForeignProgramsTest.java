package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.linux.LinuxEnd;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs of this machine that nobody compiled for a tracer: they print, end and leave behind the
 * same files as without emulation. Errors are not compared: they name the program. What is not
 * installed is skipped. {@code -Dretstack.foreign=all} runs all of them, else one of each kind
 * runs.
 */
class ForeignProgramsTest {
  private static final boolean ALL = System.getProperty("retstack.foreign", "").equals("all");
  private static final long SLICE = 50_000_000;
  private static final long INSTRUCTIONS = 20_000_000_000L;

  /** Where programs are looked for. */
  private static final String[] FOLDERS =
      System.getProperty("retstack.foreign.path", "/usr/bin:/bin:/usr/local/bin").split(":");

  /** They print in the order in which the host lists a folder. */
  private static final Set<String> UNORDERED = Set.of("find", "grep");

  /** What programs find at their start, besides. */
  private static final List<Path> READABLE =
      List.of(Path.of("/usr/lib/python3"), Path.of("/usr/lib/python3.11"), Path.of("/usr/share"));

  @TempDir private Path folder;

  /**
   * A program with its arguments.
   *
   * @param inShort true where it is one of those that always run
   */
  record Line(boolean inShort, List<String> words) {
    @Override
    public String toString() {
      return String.join(" ", words);
    }
  }

  private static Line always(String... words) {
    return new Line(true, List.of(words));
  }

  private static Line also(String... words) {
    return new Line(false, List.of(words));
  }

  static Stream<Line> lines() {
    return Stream.of(
            always(
                "sqlite3",
                "data.db",
                "create table t(a, b); insert into t values(1, 'x'), (2, 'y'); begin; delete from t"
                    + " where a = 1; rollback; create index i on t(b); select sum(a) from t;"
                    + " select * from nowhere"),
            always("jq", "-c", "[.[] | {n: .name, l: (.list | add)}] | sort_by(.l)", "data.json"),
            always("bzip2", "-k", "text"),
            always("pigz", "-n", "-p", "3", "text"),
            always("busybox", "ls", "-R"),
            always("lua5.4", "script.lua"),
            always("find", ".", "-type", "f", "-name", "*e*"),
            always("sed", "-i", "s/9/nine/g", "text"),
            always("dash", "script.sh"),
            also("sqlite3", "data.db", "pragma journal_mode=delete; create table u(x); .tables"),
            also("jq", ".[] |", "data.json"),
            also("bzip2", "-dc", "nothing.bz2"),
            also("pbzip2", "-p3", "-b1", "text"),
            also("pigz", "-n", "-p", "3", "-b", "32", "text"),
            also("xz", "-k", "-T1", "text"),
            also("gzip", "-n", "text"),
            also("zstd", "-q", "-T1", "text"),
            also("busybox", "sha1sum", "text", "script.sh"),
            also("busybox", "find", "."),
            also("busybox", "awk", "{s += $1} END {print s}", "text"),
            also("busybox", "vi", "-h"),
            also("lua5.4", "-e", "error('no')"),
            also("sort", "-S", "1k", "-T", ".", "-r", "text"),
            also("sha256sum", "text", "nothing"),
            also("grep", "-rn", "77", "."),
            also("diff", "-r", "in", "."),
            also("diff", "text", "script.sh"),
            also("split", "-l", "3000", "text"),
            also("cp", "-r", "in", "copy"),
            also("mv", "text", "in/moved"),
            also("rm", "-r", "in"),
            also("mkdir", "-p", "x/y/z"),
            also("tar", "tf", "none.tar"),
            also("awk", "{print > (NR % 3 \".out\")}", "text"),
            also("perl", "-e", "open F, '>', 'made'; print F 1 .. 99; close F; print -s 'made'"),
            also("perl", "-e", "opendir D, 'in'; print join ' ', sort readdir D; die 'so'"),
            also("dash", "-c", "echo hi > x; read a < x; echo $a; exit 5"),
            also("bash", "-c", "for f in *; do echo \"$f\"; done > list; exit 4"),
            also("python3", "-I", "-S", "-c", "print(sum(range(1000)))"),
            also("bc", "calculation.bc"))
        .filter(line -> line.inShort || ALL);
  }

  private static void fill(Path into) throws IOException {
    Files.createDirectories(into.resolve("in/deeper"));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 12_000; i++) {
      text.append(i * 7919 % 12_007).append('\n');
    }
    Files.writeString(into.resolve("text"), text);
    Files.writeString(into.resolve("in/one"), "1\n77\n");
    Files.writeString(into.resolve("in/deeper/two"), "2\n");
    Files.writeString(into.resolve("calculation.bc"), "scale=30\n4*a(1)\n2^200\nquit\n");
    Files.writeString(
        into.resolve("data.json"),
        "[{\"name\": \"b\", \"list\": [4, 5]}, {\"name\": \"a\", \"list\": [1, 2.5]}]");
    Files.writeString(
        into.resolve("script.sh"),
        "i=0; while [ $i -lt 50 ]; do i=$((i + 1)); echo $i >> out; done; cd in; pwd -P >/dev/null;"
            + " echo *; trap 'echo bye' EXIT; exit 3\n");
    Files.writeString(
        into.resolve("script.lua"),
        """
        local co = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i * i) end end)
        print(co(), co(), pcall(error, {code = 2}), pcall(string.rep))
        local out = assert(io.open("made", "w"))
        for i = 1, 100 do out:write(i, "\\n") end
        out:close()
        local sum = 0
        for line in io.lines("made") do sum = sum + tonumber(line) end
        print(sum, ("x"):rep(3), #arg, os.rename("made", "kept"), os.remove("text"))
        os.exit(6)
        """);
  }

  private record Outcome(String stdout, int exitCode, Map<String, String> files) {}

  private static Outcome outcome(Line line, byte[] stdout, int exitCode, Path in)
      throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(in)) {
      for (Path file : all.toList()) {
        byte[] bytes = Files.isRegularFile(file) ? Files.readAllBytes(file) : new byte[0];
        String content = HexFormat.of().formatHex(bytes);
        files.put(in.relativize(file).toString(), content);
      }
    }
    String text = new String(stdout, StandardCharsets.ISO_8859_1);
    boolean sorts = line.words.stream().anyMatch(UNORDERED::contains);
    text = sorts ? text.lines().sorted().collect(Collectors.joining("\n")) : text;
    return new Outcome(text, exitCode, files);
  }

  private Outcome natively(Path program, Line line) throws Exception {
    Path in = folder.resolve("native");
    fill(in);
    List<String> words = new ArrayList<>(line.words);
    words.set(0, program.toString());
    Path out = folder.resolve("out");
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .directory(in.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .redirectOutput(out.toFile());
    builder.environment().clear();
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s ends", line).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return outcome(line, Files.readAllBytes(out), process.exitValue(), in);
  }

  private Outcome emulated(Path program, Line line) throws Exception {
    Path in = folder.resolve("emulated");
    fill(in);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    List<String> words = new ArrayList<>(line.words);
    words.set(0, program.toString());
    LinuxOptions linux =
        LinuxOptions.of("prog")
            .withArguments(words)
            .withEnvironment(Map.of("LC_ALL", "C"))
            .withReadable(READABLE)
            .withWritable(List.of(in))
            .withLimits(8 << 20, 1L << 30, 64 << 20)
            .withStreams(InputStream.nullInputStream(), out, OutputStream.nullOutputStream());
    CoreOptions options =
        CoreOptions.of(linux).withTraced(false).withInstructionLimit(INSTRUCTIONS);
    try (Core core = Core.open(LoadedImage.load(program.toRealPath()), options)) {
      Core.Slice how;
      do {
        how = core.run(SLICE);
      } while (how != Core.Slice.ENDED);
      Optional<LinuxEnd> end = core.process().end();
      assertThat(end).as("%s: %s", line, core.ending().orElseThrow().detail()).isPresent();
      System.out.printf(
          "%s: %s, %,d instructions, asked in vain %s%n",
          line, end.get().describe(), core.instructions(), core.process().unsupported());
      return outcome(line, out.toByteArray(), end.get().shellCode(), in);
    }
  }

  @ParameterizedTest
  @MethodSource("lines")
  void doesWhatItDoesWithoutEmulation(Line line) throws Exception {
    Optional<Path> program =
        Stream.of(FOLDERS)
            .map(folder -> Path.of(folder, line.words.getFirst()))
            .filter(Files::isExecutable)
            .findFirst();
    Assumptions.assumeTrue(program.isPresent(), "skipped: no " + line.words.getFirst());
    Assumptions.assumeTrue(
        System.getProperty("os.arch").equals("amd64"), "skipped: not an x86_64 machine");

    assertThat(emulated(program.get(), line))
        .as(line.toString())
        .isEqualTo(natively(program.get(), line));
  }
}
