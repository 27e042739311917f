package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program that loads two shared objects in turn, which stand at the same addresses: whose
 * function was called is known all the same.
 */
class SharedObjectsTest {
  private static final int TURNS = 90;
  private static final GraphLimits LIMITS = GraphLimits.DEFAULT.withTreeCallsPerCore(1_000_000);

  private static final String OBJECT =
      """
      #ifdef CALLED
      int CALLED(const char *);
      #else
      #define CALLED(text) 1
      #endif
      static int below(int x) { return x * 3 + CALLED("1"); }
      int NAME(int n) { int s = 0; for (int i = 0; i < n; i++) s += below(i); return s; }
      """;

  private static final String PROGRAM =
      """
      #include <dlfcn.h>
      #include <stdio.h>
      int turn(const char *file, const char *name, int n) {
        void *object = dlopen(file, RTLD_NOW);
        if (!object) { puts(dlerror()); return 1; }
        int (*function)(int) = (int (*)(int)) dlsym(object, name);
        int result = function(n);
        dlclose(object);
        return result;
      }
      int main(int argc, char **argv) {
        int sum = 0;
        for (int i = 0; i < TURNS; i++)
          sum += i % 3 ? turn(argv[1], "one", 40) : turn(argv[2], "two", 50);
        printf("%d\\n", sum);
        return 0;
      }
      """;

  @TempDir private static Path dir;
  private static Path program;

  @BeforeAll
  static void compile() throws Exception {
    assumeTrue(
        Arrays.stream(System.getenv("PATH").split(":", -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc"))),
        "gcc is not installed");
    object("one");
    object("two");
    Path source = Files.writeString(dir.resolve("prog.c"), PROGRAM);
    program = dir.resolve("prog");
    gcc("-DTURNS=" + TURNS, "-pg", "-o", program.toString(), source.toString(), "-ldl");
  }

  private static void object(String name, String... more) throws Exception {
    Path source = Files.writeString(dir.resolve(name + ".c"), OBJECT);
    List<String> how = new ArrayList<>(List.of("-pg", "-fPIC", "-shared", "-DNAME=" + name));
    how.addAll(List.of(more));
    how.addAll(List.of("-o", so(name), source.toString()));
    gcc(how.toArray(String[]::new));
  }

  private static String so(String name) {
    return dir.resolve(name + ".so").toString();
  }

  private static void gcc(String... how) throws Exception {
    List<String> command = new ArrayList<>(List.of("gcc", "-O1", "-fno-inline"));
    command.addAll(List.of(how));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  private static GraphState record(Path trace, String... more) throws IOException {
    List<String> command = new ArrayList<>(List.of("record", "--image", program.toString()));
    command.addAll(List.of("-o", trace.toString(), "--flush-ms", "1", "--readable", so("one")));
    command.addAll(List.of("--readable", so("two")));
    command.addAll(List.of(more));
    command.addAll(List.of("--", so("one"), so("two")));
    Ran ran = Ran.well(command.toArray(String[]::new));
    assertThat(ran.err()).doesNotContain("exit code").doesNotContain("FAULTED");
    return read(trace);
  }

  @Test
  void eachFunctionIsThatOfItsSharedObject() throws IOException {
    Map<String, String> hashes = new TreeMap<>();
    for (List<String> how :
        List.of(
            List.of("--probe", "native"),
            List.of("--probe", "java"),
            List.of("--probe", "native", "--isolate"),
            List.of("--probe", "native", "--codec", "records"))) {
      Path trace = dir.resolve("trace.avro");
      Report report = ReportBuilder.of(record(trace, how.toArray(String[]::new))).build();
      assertThat(calls(report))
          .as("%s", how)
          .containsEntry("one.so one", 2L * TURNS / 3)
          .containsEntry("one.so below", 2L * TURNS / 3 * 40)
          .containsEntry("two.so two", TURNS / 3L)
          .containsEntry("two.so below", TURNS / 3L * 50)
          .containsEntry("prog turn", (long) TURNS)
          .containsEntry("prog main", 1L);
      assertThat(report.stats()).noneMatch(row -> row.stat().severity() == Severity.ERROR);
      assertThat(report.stats()).noneMatch(row -> row.name().startsWith("MAPS"));
      hashes.put(how.toString(), report.resultHash());
      Files.delete(trace);
    }
    assertThat(hashes.values()).as("%s", hashes).containsOnly(hashes.values().iterator().next());
  }

  /** Of two shared objects at one address each calls another function of the C library. */
  @Test
  void callsByAddressAreThoseOfTheirSharedObject() throws Exception {
    object("one", "-DCALLED=atoi", "-fno-builtin", "-fno-plt");
    object("two", "-DCALLED=atol", "-fno-builtin", "-fno-plt");
    Map<String, String> hashes = new TreeMap<>();
    for (String probe : List.of("native", "java")) {
      Path trace = dir.resolve("by-address.avro");
      Report report = ReportBuilder.of(record(trace, "--libcalls", "--probe", probe)).build();
      assertThat(calls(report))
          .containsEntry("one.so below", 2L * TURNS / 3 * 40)
          .containsEntry("one.so atoi", 2L * TURNS / 3 * 40)
          .containsEntry("two.so atol", TURNS / 3L * 50)
          .doesNotContainKey("two.so atoi")
          .containsEntry("prog dlclose", (long) TURNS);
      assertThat(report.stats()).noneMatch(row -> row.stat().severity() == Severity.ERROR);
      hashes.put(probe, report.resultHash());
      Files.delete(trace);
    }
    assertThat(hashes.get("java")).isEqualTo(hashes.get("native"));
    compile(); // the others know them without such calls
  }

  private static Map<String, Long> calls(Report report) {
    Map<String, Long> calls = new TreeMap<>();
    for (FunctionRow row : report.functions()) {
      calls.put(row.image() + " " + row.name(), row.calls());
    }
    return calls;
  }

  /** Where a window begins, the keyframe tells what is mapped. */
  @Test
  void aWindowNamesTheFunctionsAsTheWholeTraceDoes() throws IOException {
    Path trace = dir.resolve("windows.avro");
    GraphState whole = record(trace);
    Map<Long, String> names = names(whole);
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    long end = whole.cores().iterator().next().progress().time();
    int seen = 0;
    for (int i = 0; i < 40; i++) {
      long from = random.nextLong(end);
      long to = from + random.nextLong(1L << random.nextInt(16));
      Map<Long, String> found = names(window(trace, from, to, false));
      seen += found.size();
      assertThat(names).containsAllEntriesOf(found);
      GraphState counted = window(trace, from, to, true);
      assertThat(calls(ReportBuilder.of(whole).build()).keySet())
          .containsAll(calls(ReportBuilder.of(counted).build()).keySet());
      assertThat(counted.cores().iterator().next().stats().get(Stat.MAPS_DISAGREE)).isZero();
    }
    assertThat(seen).isPositive();
  }

  private static GraphState window(Path trace, long from, long to, boolean counts)
      throws IOException {
    TraceReplay.Window window = new TraceReplay.Window(_ -> true, from, to, counts);
    return TraceReplay.read(trace, new GraphState(LIMITS), window, TraceReplay.Progress.SILENT)
        .state();
  }

  /** Files that hold a part of the chunks hold the images that these map. */
  @Test
  void partsOfATraceHaveTheSharedObjects() throws IOException {
    Path parts = Files.createDirectory(dir.resolve("parts"));
    List<String> how = new ArrayList<>(List.of("record", "--image", program.toString()));
    how.addAll(List.of("-o", parts.resolve("t.avro").toString(), "--rotate", "40K"));
    how.addAll(List.of("--flush-ms", "1", "--readable", so("one"), "--readable", so("two")));
    how.addAll(List.of("--codec", "records", "--", so("one"), so("two")));
    ran(how);
    List<String> files;
    try (Stream<Path> all = Files.list(parts)) {
      files = all.map(Path::toString).sorted().toList();
    }
    assertThat(files).hasSizeGreaterThan(1);
    Map<String, Long> calls = new TreeMap<>();
    for (String file : files) {
      Report report = ReportBuilder.of(read(Path.of(file))).build();
      assertThat(report.functions()).noneMatch(row -> row.name().contains("+0x"));
      calls(report).forEach((name, count) -> calls.merge(name, count, Long::sum));
    }
    assertThat(calls.keySet()).contains("one.so one", "two.so two", "two.so below");
    Path merged = dir.resolve("merged.avro");
    List<String> merge = new ArrayList<>(List.of("merge", "-o", merged.toString()));
    merge.addAll(files);
    ran(merge);
    GraphState whole = read(merged);
    assertThat(calls(ReportBuilder.of(whole).build()))
        .containsEntry("two.so below", TURNS / 3L * 50);
    long end = whole.cores().iterator().next().progress().time();
    Path cut = dir.resolve("cut.avro");
    String[] window = {"--from", "" + end / 2, "--to", "" + (end / 2 + 20_000)};
    List<String> part = new ArrayList<>(List.of("cut", merged.toString(), "-o", cut.toString()));
    part.addAll(List.of(window));
    ran(part);
    String[] ask = {"report", cut.toString(), window[0], window[1], window[2], window[3]};
    String[] askAll = {"report", merged.toString(), window[0], window[1], window[2], window[3]};
    assertThat(Ran.retstack(ask).out()).isEqualTo(Ran.retstack(askAll).out()).contains(".so");
  }

  private static void ran(List<String> command) {
    Ran ran = Ran.retstack(command.toArray(String[]::new));
    assertThat(ran.code()).as("%s%n%s", command, ran.err()).isEqualTo(ExitCode.OK);
  }

  private static GraphState read(Path trace) throws IOException {
    return TraceReplay.read(trace, new GraphState(LIMITS), TraceReplay.Progress.SILENT).state();
  }

  private static Map<Long, String> names(GraphState state) {
    Map<Long, String> names = new TreeMap<>();
    for (CallTree tree : ReportBuilder.of(state).trees()) {
      Deque<CallNode> todo = new ArrayDeque<>(tree.roots());
      while (!todo.isEmpty()) {
        CallNode node = todo.pop();
        names.put(node.enter(), node.function());
        node.children().forEach(todo::push);
      }
    }
    return names;
  }

  /** What a flight recorder drops may be where an object was mapped. */
  @Test
  void aFlightRecorderKeepsTheMappingsOfWhatItDrops() throws IOException {
    GraphState state = record(dir.resolve("flight.avro"), "--flight-recorder", "60");
    assertThat(calls(ReportBuilder.of(state).build()).keySet())
        .allMatch(name -> name.matches("(one|two|prog)(\\.so)? (one|two|below|turn|main)"))
        .anyMatch(name -> name.contains(".so "));
    assertThat(state.cores().iterator().next().stats().get(Stat.MAPS_OVERLAP)).isZero();
  }
}
