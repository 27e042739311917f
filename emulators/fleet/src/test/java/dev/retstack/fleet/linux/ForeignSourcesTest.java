package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.BatchSink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs of others, compiled with -pg from their sources: they print, end and leave the same
 * files as under qemu-user, and each function is called as often as it is begun there. {@code
 * -Dretstack.sources=FOLDER} has the sources, as {@code emulators/guest/sources.sh} brings them.
 */
class ForeignSourcesTest {
  private static final String SOURCES = System.getProperty("retstack.sources", "");
  private static final String ONLY = System.getProperty("retstack.sources.only", "");
  private static final long SLICE = 50_000_000;
  private static final Map<String, String> ENVIRONMENT = Map.of("LC_ALL", "C");

  /** The C library's profiler leaves it; here nothing is profiled. */
  private static final String PROFILE = "gmon.out";

  @TempDir private Path folder;

  /** A program and how it is compiled and linked. */
  record Case(ForeignSource source, SignalForm form) {
    @Override
    public String toString() {
      return source + " " + form;
    }
  }

  static Stream<Case> cases() {
    return Stream.of(ForeignSource.values())
        .flatMap(source -> SignalForm.common().map(form -> new Case(source, form)))
        .filter(one -> one.toString().matches(ONLY.isEmpty() ? ".*" : ONLY));
  }

  private static void fill(Path into) throws IOException {
    Files.createDirectories(into);
    StringBuilder text = new StringBuilder();
    for (int i = 0; text.length() < 150_000; i++) {
      text.append("line ").append(i).append(" of ").append(i * 7919L % 1009).append(" words\n");
    }
    Files.writeString(into.resolve("text"), text);
    for (String name : List.of("script.lua", "script.sql", "script.sh", "data.json")) {
      try (var in =
          ForeignSourcesTest.class.getResourceAsStream("/dev/retstack/fleet/foreign/" + name)) {
        Files.copy(in, into.resolve(name));
      }
    }
    try (Stream<Path> all = Files.list(into)) { // an archive of files has their times
      for (Path file : all.toList()) {
        Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH));
      }
    }
  }

  private static Map<String, String> files(Path in) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(in)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(
            in.relativize(file).toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    files.remove(PROFILE);
    return files;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void callsAreAsManyAsExecutionsOfFirstInstructions(Case one) throws Exception {
    Assumptions.assumeTrue(Files.isDirectory(Path.of(SOURCES)), "skipped: no -Dretstack.sources");
    Optional<List<String>> words = one.source.words(Path.of(SOURCES));
    Assumptions.assumeTrue(words.isPresent(), "skipped: no source of " + one.source);
    Path program = program(one, words.get());
    LoadedImage image = LoadedImage.load(program).requireCallSites();
    Executions executions = new Executions(image, folder);
    Path here = folder.resolve("here");
    Path there = folder.resolve("away"); // as long: programs count characters of their folder
    fill(here);
    fill(there);
    long calls = 0;
    for (List<String> line : one.source.lines(one.form)) {
      List<String> arguments = new ArrayList<>(line);
      arguments.addFirst(one.source.name().toLowerCase(Locale.ROOT));
      Executions.Outcome expected = executions.run(one.form.qemu(), arguments, ENVIRONMENT, there);
      Executions.Outcome seen = traced(image, arguments, here);
      System.out.printf(
          "%s %s: code %d, %,d calls, %,d under qemu%n",
          one, line, seen.exitCode(), sum(seen), sum(expected));
      assertThat(seen.stdout()).as("%s %s", one, line).isEqualTo(expected.stdout());
      assertThat(seen.stderr()).as("%s %s", one, line).isEqualTo(expected.stderr());
      assertThat(seen.exitCode()).as("%s %s", one, line).isEqualTo(expected.exitCode());
      assertThat(counts(one, line, seen, expected))
          .as("%s %s", one, line)
          .isEqualTo(counts(one, line, expected, seen));
      assertThat(files(here)).as("%s %s", one, line).isEqualTo(files(there));
      calls += sum(seen);
    }
    assertThat(calls).isPositive();
  }

  /** Files in C of a program in C++ are compiled first: it takes them for C++. */
  private Path program(Case one, List<String> words) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(words);
    if (one.source.cplusplus()) {
      List<String> first = new ArrayList<>(words);
      first.removeIf(word -> word.endsWith(".cpp"));
      first.addAll(List.of("-r", "-nostdlib"));
      all.removeIf(word -> word.endsWith(".c"));
      all.add(one.form.compile(folder.resolve("first.o"), first, false).toString());
    }
    return one.form.compile(folder.resolve("prog"), all, one.source.cplusplus());
  }

  /** Those that another run has not in the same way: none, unless there is a mistake. */
  private static Map<String, Long> counts(
      Case one, List<String> line, Executions.Outcome of, Executions.Outcome than) {
    Map<String, Long> counts = new TreeMap<>(of.calls());
    counts.keySet().removeIf(function -> one.source.dependsOnTurns(line, function));
    counts.entrySet().removeAll(than.calls().entrySet());
    return counts;
  }

  private static long sum(Executions.Outcome outcome) {
    return outcome.calls().values().stream().mapToLong(Long::longValue).sum();
  }

  private static Executions.Outcome traced(LoadedImage image, List<String> arguments, Path in)
      throws IOException, InterruptedException {
    LinuxOptions linux =
        LinuxOptions.of("prog")
            .withArguments(arguments)
            .withEnvironment(ENVIRONMENT)
            .withWritable(List.of(in));
    Map<Long, Long> entries = new TreeMap<>();
    BatchSink sink =
        (chunk, batch) -> {
          for (int i = 0; i < batch.size(); i++) {
            if (batch.kind[i] == RecordBatch.ENTRY) {
              entries.merge(batch.selfPc[i], 1L, Long::sum);
            }
          }
        };
    HostedRun.Ended run = HostedRun.run(image, CoreOptions.of(linux), "", SLICE, sink);
    assertThat(run.result().ending().end())
        .as(run.result().ending().detail())
        .isEqualTo(CoreEnd.HALTED);
    Map<String, Long> calls = new TreeMap<>();
    entries.forEach(
        (pc, count) ->
            calls.merge(
                Executions.name(image, image.elf().functionAt(pc).orElseThrow()),
                count,
                Long::sum));
    return new Executions.Outcome(
        run.result().ending().exitCode(),
        run.stdout().toString(StandardCharsets.ISO_8859_1),
        run.stderr().toString(StandardCharsets.ISO_8859_1),
        calls);
  }
}
