package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The report of a window is what all calls of the trace spent in it. */
class WindowReportTest {
  private static final int WINDOWS = Integer.getInteger("retstack.windows", 8);
  private static final GraphLimits LIMITS = GraphLimits.DEFAULT.withTreeCallsPerCore(2_000_000);

  @TempDir private static Path dir;
  private static Path trace;

  @BeforeAll
  static void record() {
    trace = record("w200", "--cores", "2", "--image", "zoo-x86_64-fentry", "--", "w200", "3000");
  }

  private static Path record(String name, String... options) {
    Path file = dir.resolve(name + ".avro");
    List<String> command = new ArrayList<>(List.of("record", "-o", file.toString()));
    command.addAll(List.of(options));
    Ran.well(command.toArray(String[]::new));
    return file;
  }

  /** What calls of a function spent in a window. */
  private static final class Spent {
    long calls;
    long total;
    long self;

    /** Of the calls, those whose frame alone was left, since they had jumped to another one. */
    long gaveWay;
  }

  private static Map<String, Spent> spent(List<CallTree> trees, long from, long to) {
    Map<String, Spent> spent = new TreeMap<>();
    for (CallTree tree : trees) {
      Map<String, Integer> open = new HashMap<>();
      tree.roots().forEach(root -> add(root, open, from, to, spent));
    }
    return spent;
  }

  private static long in(CallNode node, long from, long to) {
    return Math.max(0, Math.min(node.exit(), to) - Math.max(node.enter(), from));
  }

  private static void add(
      CallNode node, Map<String, Integer> open, long from, long to, Map<String, Spent> spent) {
    if (node.kind() == TreeKind.INTERRUPT) {
      Map<String, Integer> own = new HashMap<>();
      node.children().forEach(child -> add(child, own, from, to, spent));
      return;
    }
    if (node.kind() != TreeKind.CALL) {
      return;
    }
    boolean gaveWay = node.exit() < from && node.ending() == Ending.TAIL_CALLED;
    if (node.enter() <= to && (node.exit() >= from || gaveWay)) {
      Spent of = spent.computeIfAbsent(node.function(), _ -> new Spent());
      of.calls += gaveWay ? 0 : 1;
      of.gaveWay += gaveWay ? 1 : 0;
      of.total += open.getOrDefault(node.function(), 0) == 0 ? in(node, from, to) : 0;
      of.self += in(node, from, to);
      for (CallNode child : node.children()) {
        boolean runs = child.kind() == TreeKind.CALL || child.kind() == TreeKind.INTERRUPT;
        of.self -= runs ? in(child, from, to) : 0;
      }
    }
    open.merge(node.function(), 1, Integer::sum);
    node.children().forEach(child -> add(child, open, from, to, spent));
    open.merge(node.function(), -1, Integer::sum);
  }

  @ParameterizedTest
  @ValueSource(strings = {"w200 300", "fib 14", "longjmp 40", "sort 60", "rtos"})
  void aWindowCountsWhatAllCallsSpentInIt(String program) throws IOException {
    boolean tasks = program.equals("rtos");
    List<String> options = new ArrayList<>(List.of("--image"));
    options.add(tasks ? "rtos-x86_64-fentry" : "zoo-x86_64-fentry");
    if (tasks) {
      options.addAll(
          List.of("--timer", "900:rtos_interrupt", "--timer", "7100:rtos_interrupt", "--", "rtos"));
    } else {
      options.addAll(List.of("--cores", "2", "--"));
      options.addAll(Arrays.asList(program.split(" ")));
    }
    Path file = record(program.replace(' ', '-'), options.toArray(String[]::new));
    GraphState whole = state(file);
    List<CallTree> trees = ReportBuilder.of(whole).trees();
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    long end = whole.cores().iterator().next().progress().time();
    for (int i = 0; i < WINDOWS; i++) {
      long from = random.nextLong(end);
      long to = Math.min(end, from + random.nextLong(1L << random.nextInt(1, 20)));
      Report report = report(file, from, to);
      Map<String, Spent> expected = spent(trees, from, to);
      for (FunctionRow row : report.functions()) {
        String which = "%s from %d to %d: %s".formatted(program, from, to, row);
        Spent of = expected.remove(row.name());
        assertThat(of).as(which).isNotNull();
        assertThat(row.calls()).as(which).isBetween(of.calls, of.calls + of.gaveWay);
        assertThat(row.wall()).as(which).isEqualTo(of.total);
        assertThat(row.finished()).as(which).isEqualTo(row.calls());
        assertThat(row.max()).as(which).isLessThanOrEqualTo(to - from);
        assertThat(row.total()).as(which).isLessThanOrEqualTo(row.wall());
        if (!tasks) { // where a task is switched out, its calls do not run
          assertThat(row.self()).as(which).isEqualTo(of.self);
          assertThat(row.total()).as(which).isEqualTo(row.wall());
        }
      }
      expected.values().removeIf(left -> left.calls == 0);
      assertThat(expected).as("%s from %d to %d", program, from, to).isEmpty();
      assertThat(report.lost()).isZero();
      assertThat(report.stats())
          .as("%s from %d to %d", program, from, to)
          .noneMatch(row -> row.name().equals("KEYFRAME_MISMATCHES"))
          .noneMatch(row -> row.stat().severity() == Severity.ERROR);
    }
  }

  @Test
  void whereChunksAreMissingNothingIsInvented() throws IOException {
    Path file =
        record("long", "--cores", "2", "--image", "zoo-x86_64-fentry", "--", "w200", "9000");
    List<CallTree> trees = ReportBuilder.of(state(file)).trees();
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    Path lossy = dir.resolve("lossy.avro");
    int kept = 0;
    try (TraceFileReader reader = TraceFileReader.open(file);
        TraceFileWriter writer = TraceFileWriter.open(lossy)) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          writer.write(entry.getImage());
        } else if (random.nextInt(5) > 0 && ++kept != 2) { // the second one is missing for sure
          writer.write(entry.getChunk());
        }
      }
    }
    assertThat(report(lossy, 0, 6_000_000).lost()).as("seed %d", seed).isPositive();
    for (int i = 0; i < WINDOWS; i++) {
      long from = random.nextLong(6_000_000);
      long to = from + random.nextLong(1L << random.nextInt(1, 21));
      Report report = report(lossy, from, to);
      Map<String, Spent> truth = spent(trees, from, to);
      for (FunctionRow row : report.functions()) {
        String which = "seed %d, from %d to %d: %s".formatted(seed, from, to, row);
        Spent of = truth.get(row.name());
        assertThat(of).as(which).isNotNull();
        assertThat(row.calls()).as(which).isLessThanOrEqualTo(of.calls + of.gaveWay);
        assertThat(row.total()).as(which).isLessThanOrEqualTo(of.total);
        assertThat(row.self()).as(which).isLessThanOrEqualTo(of.self);
      }
    }
  }

  private static GraphState state(Path file) throws IOException {
    return TraceReplay.read(file, new GraphState(LIMITS), TraceReplay.Progress.SILENT).state();
  }

  private static Report report(Path file, long from, long to) throws IOException {
    TraceReplay.Window window = new TraceReplay.Window(_ -> true, from, to, true);
    GraphState state = new GraphState(LIMITS.withTreeCallsPerCore(0));
    return ReportBuilder.of(
            TraceReplay.read(file, state, window, TraceReplay.Progress.SILENT).state())
        .build();
  }

  @Test
  void windowsThatFollowEachOtherAddUpToAll() throws IOException {
    Report all = report(trace, 0, Long.MAX_VALUE);
    Report plain = ReportBuilder.of(state(trace)).build();
    assertThat(all.functions()).isEqualTo(plain.functions());
    assertThat(all.records()).isEqualTo(plain.records());
    long end = plain.cores().getFirst().time();
    long self = 0;
    for (long from = 0; from < end; from += end / 7) {
      Report part = report(trace, from, Math.min(end, from + end / 7));
      self += part.functions().stream().mapToLong(FunctionRow::self).sum();
    }
    assertThat(self).isEqualTo(plain.functions().stream().mapToLong(FunctionRow::self).sum());
  }

  @Test
  void eachVerbTakesAWindow() throws IOException {
    String[] window = {"--core", "zoo-x86_64-fentry-1", "--from", "1000000", "--to", "1000100"};
    Ran report = run("report", trace, window);
    assertThat(report.out()).contains("run_w200").doesNotContain("zoo-x86_64-fentry-0");
    Ran at = run("report", trace, "--core", window[1], "--at", "1000050", "--window", "50");
    assertThat(at.out()).isEqualTo(report.out());
    assertThat(run("anomalies", trace, window).out()).doesNotContain("LOST", "SEQUENCE_GAP");
    Ran folded =
        run("export", trace, "--format", "folded", "-o", "-", "--from", "50", "--to", "9050");
    long sum =
        folded
            .out()
            .lines()
            .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
            .sum();
    assertThat(sum).isBetween(2 * 8_000L, 2 * 9_000L); // two cores; main begins behind the start
    Path out = dir.resolve("part.perfetto-trace");
    run(
        "export",
        trace,
        "--format",
        "perfetto",
        "-o",
        out.toString(),
        "--from",
        "50",
        "--to",
        "90");
    assertThat(Files.size(out)).isPositive().isLessThan(100_000);
  }

  private static Ran run(String verb, Path file, String... options) {
    List<String> command = new ArrayList<>(List.of(verb, file.toString()));
    command.addAll(List.of(options));
    return Ran.well(command.toArray(String[]::new));
  }

  @Test
  void whatIsWrongWithAWindowIsSaid() {
    for (String verb : List.of("report", "anomalies")) {
      Ran none = Ran.retstack(verb, trace.toString(), "--core", "other");
      assertThat(none.code()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(none.err()).contains("no core other", "zoo-x86_64-fentry-0, zoo-x86_64-fentry-1");
      Ran wrong = Ran.retstack(verb, trace.toString(), "--from", "5", "--to", "4");
      assertThat(wrong.code()).isEqualTo(ExitCode.USAGE);
      assertThat(wrong.err()).contains("--from 5 is behind --to 4");
      Ran live = Ran.retstack(verb, "--live", "--from", "5", "--to", "4");
      assertThat(live.code()).isEqualTo(ExitCode.USAGE);
      assertThat(live.err()).contains("--from 5 is behind --to 4");
      Ran session = Ran.retstack(verb, trace.toString(), "--session", "s");
      assertThat(session.code()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(session.err()).contains("no session s in this trace: it has ");
    }
    String out = dir.resolve("out.avro").toString();
    Ran record = Ran.retstack("record", "--image", "zoo-x86_64-fentry", "-o", out, "--from", "5");
    assertThat(record.code()).isEqualTo(ExitCode.USAGE);
    assertThat(record.err()).contains("only with --from-kafka");
    Ran turned = Ran.retstack("record", "--from-kafka", "-o", out, "--from", "5", "--to", "4");
    assertThat(turned.code()).isEqualTo(ExitCode.USAGE);
    assertThat(turned.err()).contains("--from 5 is behind --to 4");
  }

  @Test
  void aTraceThatWasCutOffHasTheSameWindows() throws IOException {
    byte[] bytes = Files.readAllBytes(trace);
    Path cut = Files.write(dir.resolve("cut.avro"), Arrays.copyOf(bytes, bytes.length - 40));
    Ran ran = run("report", cut, "--edges", "--from", "100000", "--to", "200000");
    Ran whole = run("report", trace, "--edges", "--from", "100000", "--to", "200000");
    List<String> lines = ran.out().lines().toList();
    assertThat(lines.getFirst()).contains("the trace was cut off");
    assertThat(lines.get(1))
        .isEqualTo(whole.out().lines().findFirst().orElseThrow().replace("100.00", "99.99"));
    assertThat(lines.subList(2, lines.size())).isEqualTo(whole.out().lines().skip(1).toList());
    assertThat(ran.err()).contains("cut off");
  }
}
