package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.Ending;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a window of a trace shows is what all of the trace shows of that time. */
class GraphWindowTest {
  private static final int WINDOWS = Integer.getInteger("retstack.windows", 6);
  private static final GraphLimits LIMITS = GraphLimits.DEFAULT.withTreeCallsPerCore(1_000_000);

  @TempDir private static Path dir;
  private static Path trace;
  private static GraphState whole;

  @BeforeAll
  static void record() throws IOException {
    trace = dir.resolve("trace.avro");
    String[] cores = {"--cores", "2", "--image", "zoo-x86_64-fentry"};
    List<String> command = new ArrayList<>(List.of("record", "-o", trace.toString()));
    command.addAll(Arrays.asList(cores));
    command.addAll(List.of("--", "w200", "3000"));
    Ran.well(command.toArray(String[]::new));
    whole = TraceReplay.read(trace, new GraphState(LIMITS), TraceReplay.Progress.SILENT).state();
  }

  @Test
  void durationsOfAFunctionThatWasNotCalledAreRefused() {
    Ran near = graph(trace, "--durations", "--function", "w200_00");
    assertThat(near.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(near.err()).contains("no call of function w200_00; did you mean w200_00");
    Ran far = graph(trace, "--durations", "--function", "nosuch");
    assertThat(far.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(far.err()).contains("no call of function nosuch; there are calls of ");
    assertThat(far.out()).isEmpty();
  }

  @Test
  void aWindowHasTheSameCallsAsTheWholeTrace() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    long end = whole.cores().iterator().next().progress().time();
    long read = 0;
    for (int i = 0; i < WINDOWS; i++) {
      long from = random.nextLong(end);
      long to = from + random.nextLong(1L << random.nextInt(20));
      TraceReplay.Window window = new TraceReplay.Window(_ -> true, from, to, false);
      GraphState part =
          TraceReplay.read(trace, new GraphState(LIMITS), window, TraceReplay.Progress.SILENT)
              .state();
      read += ReportBuilder.of(part).build().records();
      assertThat(ReportBuilder.of(part).build().lost()).isZero();
      List<CallTree> expected = ReportBuilder.of(whole).trees();
      List<CallTree> found = ReportBuilder.of(part).trees();
      assertThat(found).hasSameSizeAs(expected);
      for (int tree = 0; tree < expected.size(); tree++) {
        same(found.get(tree).within(from, to), expected.get(tree).within(from, to));
      }
    }
    long all = ReportBuilder.of(whole).build().records();
    assertThat(read).as("records read for each window").isLessThan(WINDOWS * all / 2);
  }

  private static void same(CallTree part, CallTree of) {
    Deque<CallNode> found = new ArrayDeque<>(part.roots());
    Deque<CallNode> expected = new ArrayDeque<>(of.roots());
    while (!expected.isEmpty()) {
      assertThat(found).isNotEmpty();
      CallNode node = found.pop();
      CallNode truth = expected.pop();
      assertThat(node.function()).isEqualTo(truth.function());
      assertThat(node.enter()).isEqualTo(truth.enter());
      assertThat(node.children()).hasSameSizeAs(truth.children());
      if (node.ending() == Ending.OPEN) { // it ends behind what was read
        assertThat(truth.exit()).isGreaterThanOrEqualTo(node.exit());
      } else {
        assertThat(node.ending()).isEqualTo(truth.ending());
        assertThat(node.exit()).isEqualTo(truth.exit());
      }
      node.children().forEach(found::push);
      truth.children().forEach(expected::push);
    }
    assertThat(found).isEmpty();
  }

  @Test
  void theVerbReadsNoMoreThanItNeeds() {
    Ran ran = graph(trace, "--at", "1000000", "--window", "50");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    assertThat(ran.out()).contains("run_w200() {").doesNotContain("SEQUENCE_GAP");
    assertThat(ran.err()).contains("chunks behind the window were not read");
    Ran between = graph(trace, "--from", "999950", "--to", "1000050");
    assertThat(between.out()).isEqualTo(ran.out());
    Ran end = graph(trace, "--at", String.valueOf(Long.MAX_VALUE));
    assertThat(end.code()).as(end.err()).isEqualTo(ExitCode.OK);
    assertThat(end.err()).doesNotContain("not read");
  }

  @Test
  void timesThatDoNotFitTogetherAreRefused() {
    for (String[] wrong :
        new String[][] {
          {"--from", "5", "--to", "4"}, {"--at", "5", "--to", "6"}, {"--open", "--from", "1"}
        }) {
      Ran ran = graph(trace, wrong);
      assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.USAGE);
      assertThat(ran.err()).contains(wrong[0]);
    }
  }

  @Test
  void aCoreThatIsNotThereIsSaidWithThoseThatAre() {
    Ran ran = graph(trace, "--at", "1000000", "--core", "other");
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains("no core other", "zoo-x86_64-fentry-0", "zoo-x86_64-fentry-1");
  }

  @Test
  void aTraceThatWasCutOffIsReadWhole() throws IOException {
    byte[] bytes = Files.readAllBytes(trace);
    Path cut = Files.write(dir.resolve("cut.avro"), Arrays.copyOf(bytes, bytes.length - 40));
    Ran ran = graph(cut, "--at", "1000000", "--window", "50");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    assertThat(ran.out()).contains("run_w200() {");
    assertThat(ran.err()).contains("cut off");
  }

  private static Ran graph(Path file, String... options) {
    List<String> command = new ArrayList<>(List.of("graph", file.toString()));
    command.addAll(List.of(options));
    return Ran.retstack(command.toArray(String[]::new));
  }
}
