package dev.retstack.graph.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.Stream;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is known across a loss, and what is not; LOSSES.md has the proof. */
class LossTest {
  private static final long FROM = 0x900;

  private final Stream stream = new Stream();

  /** main, a, b, c are open at 4; then records are lost. */
  private Stream fourOpen() {
    return stream
        .enter(1, 0, Stream.MAIN, FROM)
        .enter(2, 1, Stream.A, FROM)
        .enter(3, 2, Stream.B, FROM)
        .enter(4, 3, Stream.C, FROM);
  }

  /** main continues, a jumped to c, b and c ended, and c called a. */
  @Test
  void aKeyframeTellsWhatIsOpenBehindAGap() {
    fourOpen().send().function(9, Stream.A, FROM).skip();
    Keyframe.Builder core = new Keyframe.Builder();
    core.last();
    core.task(0, 4, 4);
    Stream.frame(core, 1, 0, Stream.MAIN, FROM);
    Stream.frame(core, 2, 1, Stream.A, FROM);
    Stream.frame(core, 6, 2, Stream.C, Stream.HANDLER + 16);
    Stream.frame(core, 8, 3, Stream.A, FROM);
    stream.opens(core).exit(20, 3, Stream.A, FROM).exit(21, 2, Stream.C, Stream.HANDLER + 16);
    stream.exit(21, 1, Stream.A, FROM).exit(24, 0, Stream.MAIN, FROM).send();
    assertThat(tree())
        .containsExactly(
            "main 1..24 RETURNED",
            " a 2..6 TAIL_CALLED",
            "  b 3..4 TRUNCATED by 20",
            "   c 4..4 TRUNCATED by 20",
            "  MISSING 4..6 RETURNED",
            " c 6..21 RETURNED",
            "  a 8..20 RETURNED");
    assertThat(stat(Stat.ADOPTED_CALLS)).isEqualTo(2);
    assertThat(stat(Stat.RECOVERED_CALLS)).isOne();
    assertThat(stat(Stat.TRUNCATED_CALLS)).isEqualTo(2);
    assertThat(stat(Stat.UNKNOWN_EXITS)).isZero();
    assertThat(stat(Stat.KEYFRAME_MISMATCHES)).isZero();
  }

  /** Of a call from before the gap that was not seen, though nothing was missing then. */
  @Test
  void aKeyframeThatLiesIsNotBelieved() {
    fourOpen().send().function(9, Stream.A, FROM).skip();
    Keyframe.Builder core = new Keyframe.Builder();
    core.last();
    core.task(0, 2, 2);
    Stream.frame(core, 1, 0, Stream.MAIN, FROM);
    Stream.frame(core, 3, 1, Stream.C, FROM);
    stream.opens(core).enter(20, 2, Stream.B, FROM).send();
    assertThat(stat(Stat.KEYFRAME_MISMATCHES)).isOne();
    assertThat(stat(Stat.TRUNCATED_CALLS)).isEqualTo(4);
    assertThat(stat(Stat.ADOPTED_CALLS)).isZero();
  }

  @Test
  void callsThatTheMissingRecordsCannotHaveReplacedGoOn() {
    fourOpen().lost(10, 1).enter(12, 4, Stream.A, FROM).exit(13, 4, Stream.A, FROM);
    stream.exit(20, 3, Stream.C, FROM).exit(21, 2, Stream.B, FROM).exit(23, 1, Stream.A, FROM);
    stream.exit(24, 0, Stream.MAIN, FROM).send();
    assertThat(tree())
        .containsExactly(
            "main 1..24 RETURNED",
            " a 2..23 RETURNED",
            "  b 3..4 TRUNCATED by 21",
            "   c 4..4 TRUNCATED by 20",
            "  DROPPED 4..21 RETURNED",
            "   a 12..13 RETURNED");
    assertThat(stat(Stat.RECOVERED_CALLS)).isEqualTo(2);
    assertThat(stat(Stat.TRUNCATED_CALLS)).isEqualTo(2);
    assertThat(stat(Stat.UNKNOWN_EXITS)).isEqualTo(2);
  }

  @Test
  void aCallMayHaveJumpedAwayInTheLossThoughItsFrameIsStillThere() {
    fourOpen().lost(10, 1).exit(12, 4, Stream.A, FROM).exit(13, 3, Stream.C, FROM).send();
    assertThat(tree()).contains("   c 4..4 TRUNCATED by 13", "  b 3..0 OPEN");
  }

  @Test
  void timeOfUnknownCallsIsNobodysOwn() {
    fourOpen().lost(10, 1).enter(12, 4, Stream.A, FROM).exit(13, 4, Stream.A, FROM);
    stream.exit(20, 3, Stream.C, FROM).exit(21, 2, Stream.B, FROM).exit(23, 1, Stream.A, FROM);
    stream.exit(24, 0, Stream.MAIN, FROM).send();
    FunctionRow a =
        ReportBuilder.of(stream.state()).build().functions().stream()
            .filter(row -> row.selfPc() == Stream.A)
            .findFirst()
            .orElseThrow();
    assertThat(a.calls()).isEqualTo(2);
    assertThat(a.sum()).isEqualTo(21 + 1);
    assertThat(a.self()).as("2..3, 21..23 and 12..13").isEqualTo(1 + 2 + 1);
  }

  /** In which interrupts the task was when it was left is not known: nothing is made up. */
  @Test
  void aSwitchBehindALossInAnInterruptCutsOffAllThatMayHaveEnded() {
    fourOpen()
        .interrupt(5, 7, 4)
        .enter(6, 0, Stream.A, FROM)
        .lost(10, 3)
        .started(12, 1)
        .enter(13, 0, Stream.B, FROM)
        .exit(14, 0, Stream.B, FROM)
        .switched(15, 0, 4)
        .exit(16, 3, Stream.C, FROM)
        .exit(17, 2, Stream.B, FROM)
        .send();
    assertThat(stat(Stat.TRUNCATED_CALLS)).isEqualTo(5);
    assertThat(stat(Stat.UNKNOWN_EXITS)).isEqualTo(2);
    assertThat(stat(Stat.LOST_RECORDS)).isEqualTo(3);
    assertThat(stat(Stat.UNWOUND_CALLS) + stat(Stat.MISPLACED_EXITS)).isZero();
    assertThat(stat(Stat.CONTEXTS_DISAGREE)).isZero();
    FunctionRow b =
        ReportBuilder.of(stream.state()).build().functions().stream()
            .filter(row -> row.selfPc() == Stream.B)
            .findFirst()
            .orElseThrow();
    assertThat(b.finished()).as("that of the other task").isEqualTo(1);
  }

  /**
   * The hole above a frame that tail-called is in the call around it, also where the frame goes.
   */
  @Test
  void aHoleAboveATailCallIsInTheCallAroundIt() {
    stream.enter(1, 0, Stream.MAIN, FROM).enter(2, 1, Stream.A, FROM).tailEnter(3, 2, Stream.B);
    stream.enter(4, 3, Stream.C, FROM).lost(5, 2).exit(20, 4, Stream.A, FROM);
    stream.lost(30, 2).enter(40, 4, Stream.A, FROM).exit(41, 4, Stream.A, FROM);
    stream.exit(50, 3, Stream.C, FROM).exit(51, 2, Stream.B, Stream.HANDLER + 16);
    stream.exit(51, 1, Stream.A, FROM).exit(60, 0, Stream.MAIN, FROM).send();
    FunctionRow main =
        ReportBuilder.of(stream.state()).build().functions().stream()
            .filter(row -> row.selfPc() == Stream.MAIN)
            .findFirst()
            .orElseThrow();
    assertThat(main.self()).as("1..2, 51..60").isEqualTo(1 + 9);
  }

  @Test
  void aCallerIsNotGuessedAcrossALoss() {
    fourOpen().lost(10, 2).enter(12, 4, Stream.A, FROM).send();
    assertThat(ReportBuilder.of(stream.state()).build().edges())
        .extracting(row -> row.callerPc(), row -> row.calleePc())
        .containsExactlyInAnyOrder(
            tuple(Stream.MAIN, Stream.A), tuple(Stream.A, Stream.B), tuple(Stream.B, Stream.C));
  }

  @Test
  void behindAMissingChunkNothingIsSure() {
    fourOpen().send();
    stream.function(10, Stream.A, FROM).skip().enter(12, 4, Stream.A, FROM).send();
    assertThat(tree())
        .containsExactly(
            "main 1..4 TRUNCATED",
            " a 2..4 TRUNCATED",
            "  b 3..4 TRUNCATED",
            "   c 4..4 TRUNCATED",
            "MISSING 4..4 RETURNED",
            "a 12..0 OPEN");
    assertThat(core().losses().rows())
        .containsExactly(new Loss(Loss.Kind.MISSING, 1, 2, 4, 1, 4, 12));
  }

  @Test
  void whatIsOpenAtALossAtTheEndOfTheDataIsInDoubt() {
    fourOpen().lost(10, 1).send();
    assertThat(core().progress().open()).isZero();
    assertThat(core().progress().ended(Ending.TRUNCATED)).isEqualTo(4);
    assertThat(ReportBuilder.of(stream.state()).trees().getFirst().roots().getFirst())
        .extracting(CallNode::ending, CallNode::exit)
        .containsExactly(Ending.TRUNCATED, 4L);
    stream.enter(12, 9, Stream.A, FROM).send();
    assertThat(core().progress().open()).isEqualTo(5);
  }

  @Test
  void aCoreThatEndsBehindALossBoundsWhatWasOpen() {
    fourOpen().lost(10, 1).end(30);
    assertThat(tree()).contains("main 1..4 TRUNCATED by 30", "   c 4..4 TRUNCATED by 30");
  }

  @Test
  void lossesWithinLosses() {
    fourOpen().lost(5, 1).enter(6, 6, Stream.A, FROM).enter(7, 7, Stream.B, FROM);
    stream.enter(8, 8, Stream.C, FROM).enter(9, 9, Stream.C, FROM);
    stream.lost(10, 1).exit(11, 9, Stream.C, FROM).send();
    assertThat(core().progress().holes()).isEqualTo(2);
    stream.exit(12, 8, Stream.C, FROM).exit(13, 7, Stream.B, FROM).exit(14, 6, Stream.A, FROM);
    stream.exit(15, 3, Stream.C, FROM).exit(16, 0, Stream.MAIN, FROM).send();
    assertThat(core().progress().holes()).isZero();
    assertThat(tree())
        .contains(
            "main 1..16 RETURNED",
            "    DROPPED 4..15 RETURNED",
            "     a 6..14 RETURNED",
            "      b 7..13 RETURNED",
            "       DROPPED 9..12 RETURNED");
  }

  @Test
  void aSnapshotInTheMiddleChangesNothing() throws IOException {
    fourOpen().send();
    stream.lost(10, 1).send();
    GraphState again = copy(stream.state());
    RecordBatch rest = new RecordBatch(4);
    rest.add(RecordBatch.ENTRY, 12, 4, Stream.A, FROM, 0, 0);
    rest.add(RecordBatch.EXIT, 13, 4, Stream.A, FROM, 0, 0);
    rest.add(RecordBatch.EXIT, 20, 3, Stream.C, FROM, 0, 0);
    ChunkMeta meta = ChunkMeta.running(2, 5, 12, 20, ClockUnit.INSTRUCTIONS);
    again.apply(meta, Stream.CORE, Stream.IMAGE_ID, rest);
    again = copy(again);
    stream.state().apply(meta, Stream.CORE, Stream.IMAGE_ID, rest);
    assertThat(ReportBuilder.of(again).build()).isEqualTo(ReportBuilder.of(stream.state()).build());
    assertThat(ReportBuilder.of(again).trees().toString())
        .isEqualTo(ReportBuilder.of(stream.state()).trees().toString());
  }

  /** As many losses and holes as a hostile stream likes. */
  @Test
  void lossesCostNoMoreThanTheirLimits() {
    for (int i = 0; i < 5_000; i++) {
      stream.lost(10L * i, 1).enter(10L * i + 1, 2 * i % 60_000, Stream.A, FROM).send();
    }
    assertThat(core().losses().rows()).hasSize(1000);
    assertThat(core().losses().losses()).isEqualTo(5_000);
    assertThat(core().losses().rows().stream().mapToLong(Loss::records).sum()).isEqualTo(5_000);
    assertThat(core().progress().slots()).isLessThanOrEqualTo(5_000);
    assertThat(core().progress().holes()).isLessThanOrEqualTo(5_000);
    assertThat(core().progress().balanced()).isTrue();
  }

  /**
   * Seed 9820 of the simulation: the first chunk that came began in an interrupt, and the time of
   * what went missing ahead of it was told from the core's clock, which had not begun.
   */
  @Test
  void aStateThatBeginsInAnInterruptIsReadBack() throws IOException {
    stream.enter(90, 0, Stream.MAIN, 0x900).skip();
    stream.enter(100, 0, Stream.C, 0x900);
    stream.send(stream.meta().in(7, 2));
    assertThat(ReportBuilder.of(copy(stream.state())).build())
        .isEqualTo(ReportBuilder.of(stream.state()).build());
    stream.exit(110, 0, Stream.C, 0x900).interruptEnd(120, 32).interruptEnd(130, 33).send();
    assertThat(ReportBuilder.of(copy(stream.state())).build())
        .isEqualTo(ReportBuilder.of(stream.state()).build());
    assertThat(ReportBuilder.of(stream.state()).build().cores().getFirst().tasks().getFirst().ran())
        .isZero();
  }

  /**
   * Seed 804 of the linked runs: the hole begins where frames are left out, and the return of one
   * of those was taken for a sign that all below are known.
   */
  @Test
  void aHoleAboveTheFramesThatAreKeptClosesWithThem() throws IOException {
    GraphLimits limits = GraphLimits.DEFAULT.but().maxDepth(2).build();
    Stream shallow = new Stream(new GraphState(limits));
    shallow.enter(1, 0, Stream.MAIN, FROM).enter(2, 1, Stream.A, FROM).enter(3, 2, Stream.B, FROM);
    shallow.send().function(9, Stream.A, FROM).skip();
    Keyframe.Builder core = new Keyframe.Builder();
    core.last();
    core.task(0, 3, 3);
    Stream.frame(core, 1, 0, Stream.MAIN, FROM);
    Stream.frame(core, 2, 1, Stream.A, FROM);
    Stream.frame(core, 3, 2, Stream.B, FROM);
    shallow.opens(core).exit(20, 2, Stream.B, FROM).exit(22, 1, Stream.A, FROM).send();
    assertThat(shallow.state().core(Stream.CORE).orElseThrow().progress().holes()).isZero();
    assertThat(ReportBuilder.of(copy(shallow.state(), limits)).build())
        .isEqualTo(ReportBuilder.of(shallow.state()).build());
  }

  private static GraphState copy(GraphState state) throws IOException {
    return copy(state, GraphLimits.DEFAULT);
  }

  private static GraphState copy(GraphState state, GraphLimits limits) throws IOException {
    return GraphState.ofCopy(state.copy(), limits, StateBudget.UNLIMITED);
  }

  private long stat(Stat stat) {
    return core().stats().get(stat);
  }

  private CoreGraph core() {
    return stream.state().core(Stream.CORE).orElseThrow();
  }

  private List<String> tree() {
    CallTreeLog log = core().tree();
    return java.util.stream.IntStream.range(0, log.size()).mapToObj(i -> line(log, i)).toList();
  }

  private String line(CallTreeLog log, int row) {
    String indent = "";
    for (int above = log.parent(row); above >= 0; above = log.parent(above)) {
      indent += " ";
    }
    boolean loss = log.kind(row) == TreeKind.LOSS;
    boolean open = log.ending(row) == Ending.OPEN;
    return indent
        + (loss ? log.loss(row).kind() : Stream.IMAGE.symbols().name(log.selfPc(row)))
        + " %d..%d %s".formatted(log.enter(row), open ? 0 : log.exit(row), log.ending(row))
        + (log.deadBy(row) < 0 ? "" : " by " + log.deadBy(row));
  }
}
