package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.file.TraceIndex;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The timeline of recorded programs, by the command. */
class TimelineTest {
  private static final int WINDOWS = Integer.getInteger("retstack.windows", 5);

  @TempDir private static Path dir;
  private static Path trace;

  @BeforeAll
  static void record() {
    trace = dir.resolve("w200.avro");
    Ran.well(
        "record", "--image", "zoo-x86_64-fentry", "-o", trace.toString(), "--", "w200", "20000");
  }

  /** What the outermost calls take is what all calls take themselves. */
  @Test
  void itsSumsAreThoseOfTheReportOfTheWindow() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    int fromPyramid = 0;
    try (TraceTimeline timelines = TraceTimeline.open(trace, LateSymbols.NONE)) {
      TraceIndex.Core core = timelines.cores().iterator().next();
      long last = timelines.lastTime(core);
      for (int i = 0; i < WINDOWS; i++) {
        // the first is all of it, of which no chunk has to be read
        long length = i == 0 ? last : Math.max(2, last >>> random.nextInt(14));
        long from = random.nextLong(last - length + 1);
        TraceTimeline.Answer answer =
            timelines.answer(
                core,
                new Timeline.Question(from, from + length - 1, 1 + random.nextInt(500), 64),
                true,
                TraceReplay.Progress.SILENT);
        fromPyramid += answer.detail() == TraceTimeline.Detail.CHUNKS ? 0 : 1;
        Timeline timeline = answer.timeline();
        long busy = 0;
        long begun = 0;
        for (Timeline.Row row : timeline.rows()) {
          boolean isCall = row.line().kind() == Line.Kind.CALLS;
          busy += isCall && row.line().depth() == 0 ? row.busy() : 0;
          begun += isCall ? row.calls() : 0;
        }
        long end = Math.min(timeline.to(), last);
        Report until = report(timeline.from(), end);
        assertThat(busy)
            .as("busy of %s", timeline.from())
            .isEqualTo(until.functions().stream().mapToLong(FunctionRow::self).sum());
        long open = openAt(timeline.from());
        long calls = calls(report(timeline.from(), timeline.to() - 1));
        assertThat(begun + open).as("calls of %s", timeline.from()).isEqualTo(calls);
      }
    }
    assertThat(fromPyramid).isPositive();
  }

  private static long calls(Report report) {
    return report.functions().stream().mapToLong(FunctionRow::calls).sum();
  }

  /** Calls that began before a time and are open then. */
  private static long openAt(long time) throws IOException {
    if (time == 0) {
      return 0;
    }
    long ended = calls(report(0, time - 1));
    long all = calls(report(0, Long.MAX_VALUE));
    return ended + calls(report(time, Long.MAX_VALUE)) - all;
  }

  private static Report report(long from, long to) throws IOException {
    GraphState state = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0));
    TraceReplay.Window window = new TraceReplay.Window(_ -> true, from, to, true);
    return ReportBuilder.of(
            TraceReplay.read(trace, state, window, TraceReplay.Progress.SILENT).state())
        .build();
  }

  @Test
  void itIsTextJsonAndCsv() {
    String file = trace.toString();
    Ran text = Ran.well("graph", file, "--timeline", "--width", "60", "--depth", "3");
    assertThat(text.out())
        .contains("core zoo-x86_64-fentry-0: 0 to ")
        .contains("instructions a character")
        .contains("task 0 depth 0 ")
        .contains("|run_w200__")
        .contains("more lines have calls in this time: give --depth")
        .contains("one call is open all that time");
    assertThat(text.err()).matches("retstack: the tiles of 32,768 of [0-9,]* records were .*\n");
    assertThat(text.out().lines().filter(line -> line.startsWith("task 0 depth"))).hasSize(3);
    String json = Ran.well("graph", file, "--timeline", "--format", "json").out();
    assertThat(json).contains("\"function\":\"run_w200\"").contains("\"stretch\":");
    String csv = Ran.well("graph", file, "--timeline", "--format", "csv", "--from", "5000").out();
    assertThat(csv.lines().findFirst().orElseThrow())
        .startsWith(
            "core,session,kind,task,instance,interrupts,depth,taskName,from,to,function,calls,busy");
    assertThat(csv).contains(",run_w200,");
  }

  @Test
  void tasksInterruptsAndAWindowOfOneCoreAreShown() {
    Path rtos = dir.resolve("rtos.avro");
    Ran.well(
        "record",
        "--image",
        "rtos-arm-mcount",
        "--timer",
        "900:rtos_interrupt",
        "--timer",
        "7100:rtos_interrupt",
        "--task-variable",
        "rtos_current",
        "-o",
        rtos.toString(),
        "--",
        "rtos");
    String shown = Ran.well("graph", rtos.toString(), "--timeline", "--depth", "200").out();
    assertThat(shown).contains("interrupt 1 depth 0 ");
    assertThat(shown.lines().filter(line -> line.contains(" depth 0 ")).count()).isGreaterThan(2);
    Ran near = Ran.well("graph", rtos.toString(), "--timeline", "--at", "5000", "--window", "40");
    assertThat(near.out()).contains(" 1 instructions a character").contains("|");
  }

  @Test
  void whatIsWrittenHasAPyramidUnlessItIsNotWanted() throws IOException {
    Path bare = dir.resolve("bare.avro");
    Ran.well(
        "record",
        "--image",
        "zoo-x86_64-fentry",
        "--no-pyramid",
        "-o",
        bare.toString(),
        "--",
        "w200",
        "20000");
    assertThat(Files.size(bare)).isLessThan(Files.size(trace));
    Ran without = Ran.well("graph", bare.toString(), "--timeline");
    assertThat(without.err()).contains("has no pyramid").contains("retstack index");
    Ran indexed = Ran.well("index", bare.toString());
    assertThat(indexed.err()).contains("a pyramid of 1 core,");
    assertThat(Ran.well("graph", bare.toString(), "--timeline").out())
        .isEqualTo(Ran.well("graph", trace.toString(), "--timeline").out());

    Path merged = dir.resolve("merged.avro");
    Ran.well("merge", bare.toString(), "-o", merged.toString());
    assertQuiet(merged);
    Path cut = dir.resolve("cut.avro");
    Ran.well("cut", trace.toString(), "--from", "100000", "--to", "2000000", "-o", cut.toString());
    assertQuiet(cut);
    Path parts = dir.resolve("part.avro");
    Ran.well(
        "record",
        "--image",
        "zoo-x86_64-fentry",
        "--rotate",
        "64K",
        "-o",
        parts.toString(),
        "--",
        "w200",
        "20000");
    assertQuiet(dir.resolve("part.0001.avro"));
    assertQuiet(dir.resolve("part.0002.avro"));
  }

  private static void assertQuiet(Path file) {
    Ran ran = Ran.well("graph", file.toString(), "--timeline");
    assertThat(ran.err()).doesNotContain("no pyramid", "wrong");
    assertThat(ran.out()).contains("task 0 depth 0 ");
    assertThat(Ran.well("report", file.toString()).err()).doesNotContain("pyramid");
  }

  @Test
  void whatCannotBeAskedIsRefused() {
    String file = trace.toString();
    List<List<String>> wrong =
        List.of(
            List.of("graph", file, "--width", "10"),
            List.of("graph", file, "--timeline", "--width", "0"),
            List.of("graph", "--live", "--timeline"),
            List.of("graph", file, "--timeline", "--open"),
            List.of("graph", file, "--timeline", "--core", "none"),
            List.of("index", dir.resolve("none.avro").toString()));
    List<Integer> codes = new ArrayList<>();
    for (List<String> command : wrong) {
      Ran ran = Ran.retstack(command.toArray(String[]::new));
      codes.add(ran.code());
      assertThat(ran.out()).isEmpty();
    }
    assertThat(codes).doesNotContain(ExitCode.OK);
  }
}
