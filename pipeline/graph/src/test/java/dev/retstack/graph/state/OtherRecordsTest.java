package dev.retstack.graph.state;

import static dev.retstack.graph.Stream.A;
import static dev.retstack.graph.Stream.B;
import static dev.retstack.graph.Stream.C;
import static dev.retstack.graph.Stream.HANDLER;
import static dev.retstack.graph.Stream.MAIN;
import static dev.retstack.graph.Stream.returnTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.SystemCallRow;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.RecordedValues;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.ValuesDepth;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Records that are no entries and exits: each case by hand. */
class OtherRecordsTest {
  private final Stream stream = new Stream();

  @Test
  void functionsCountUnderTheFunctionThatTheReturnAddressLiesIn() {
    stream.function(10, A, returnTo(MAIN)).function(12, B, returnTo(A)).function(13, B, 0x9000);
    Report report = ReportBuilder.of(stream.send().state()).build();
    assertThat(report.functions())
        .extracting(FunctionRow::name, FunctionRow::calls, FunctionRow::finished)
        .containsExactly(tuple("a", 1L, 0L), tuple("b", 2L, 0L));
    assertThat(report.edges())
        .extracting(EdgeRow::caller, EdgeRow::callee, EdgeRow::calls, EdgeRow::total)
        .containsExactlyInAnyOrder(
            tuple("0x9000", "b", 1L, 0L), tuple("a", "b", 1L, 0L), tuple("main", "a", 1L, 0L));
    assertThat(report.records()).isEqualTo(3);
    assertThat(report.stats()).isEmpty();
    assertThat(core().progress().entries()).isZero();
  }

  /** The site at a + 4 is the caller's selfPc, so that both tracers speak of one function. */
  @Test
  void theCallerIsKnownByItsCallSite() {
    Stream known = new Stream(new GraphState(), List.of(A, MAIN));
    known.enter(1, 0, A, returnTo(MAIN)).function(2, B, returnTo(A)).function(3, C, returnTo(B));
    Report report = ReportBuilder.of(known.send().state()).build();
    EdgeRow edge =
        report.edges().stream().filter(e -> e.caller().equals("a")).findFirst().orElseThrow();
    assertThat(edge.callerPc()).isEqualTo(A);
    assertThat(report.functions()).hasSize(3);
  }

  @Test
  void aFunctionInsideOfCallsIsTheInnermostCallsAndTakesNoTimeOfIt() {
    stream
        .enter(10, 0, MAIN, 0x9000)
        .function(12, B, returnTo(MAIN))
        .exit(20, 0, MAIN, 0x9000)
        .send();
    CallNode main = roots().getFirst();
    assertThat(main.children()).hasSize(1);
    CallNode b = main.children().getFirst();
    assertThat(b.kind()).isEqualTo(TreeKind.FUNCTION);
    assertThat(b.function()).isEqualTo("b");
    assertThat(b.recorded().caller()).isEqualTo("main");
    assertThat(row("main").self()).isEqualTo(10);
  }

  @Test
  void aFunctionThatWasJumpedToBelongsToTheCallThatJumped() {
    stream.enter(1, 0, A, returnTo(MAIN)).function(2, B, HANDLER).exit(9, 0, A, returnTo(MAIN));
    Report report = ReportBuilder.of(stream.send().state()).build();
    assertThat(report.edges())
        .extracting(EdgeRow::caller, EdgeRow::callee)
        .containsExactly(tuple("a", "b"));
    assertThat(core().progress().ended(Ending.RETURNED)).isEqualTo(1);
  }

  @Test
  void valuesAreThoseOfTheCallAheadAcrossChunks() {
    stream
        .enter(1, 0, MAIN, 0x9000)
        .send()
        .values(1, ValuesDepth.of(0, 4, ValuesDepth.HEX), 1, 2, 3, 4)
        .values(1, ValuesDepth.of(4, 1, ValuesDepth.HEX), 0, 0, 0, 0)
        .enter(2, 1, A, returnTo(MAIN))
        .values(2, 1, 7, 8, 0, 0)
        .exit(4, 1, A, returnTo(MAIN))
        .send();
    GraphState again = copy(stream.state());
    stream
        .values(4, ValuesDepth.of(0, 1, ValuesDepth.SIGNED), -1, 0, 0, 0)
        .exit(5, 0, MAIN, 0x9000)
        .send();
    CallNode main = roots().getFirst();
    assertThat(main.recorded().arguments())
        .isEqualTo(new RecordedValues(ValuesDepth.HEX, LongList.of(1, 2, 3, 4, 0)));
    assertThat(main.recorded().results().isEmpty()).isTrue();
    CallNode a = main.children().getFirst();
    assertThat(a.recorded().arguments()).isEqualTo(new RecordedValues(0, LongList.of(0, 7, 8)));
    assertThat(a.recorded().results())
        .isEqualTo(new RecordedValues(ValuesDepth.SIGNED, LongList.of(-1)));
    assertThat(ReportBuilder.of(again).trees().getFirst().roots().getFirst().recorded().arguments())
        .isEqualTo(main.recorded().arguments());
  }

  @Test
  void valuesWithoutTheirRecordBelongToNobody() {
    stream
        .enter(1, 0, MAIN, 0x9000)
        .lost(2, 3)
        .values(2, ValuesDepth.of(0, 1, 0), 5, 0, 0, 0)
        .exit(3, 0, MAIN, 0x9000)
        .values(3, ValuesDepth.of(0, 1, 0), 6, 0, 0, 0)
        .send();
    assertThat(roots().getFirst().recorded().arguments().isEmpty()).isTrue();
    assertThat(roots().getFirst().recorded().results().isEmpty()).isTrue();
    assertThat(core().other().values()).isEqualTo(2);
  }

  @Test
  void whatAnUnknownExitReturnedIsNotTheResultOfACallItProvesDead() {
    stream
        .lost(1, 3)
        .enter(2, 5, Stream.A, 0x9000)
        .exit(3, 2, MAIN, 0x9000)
        .values(3, ValuesDepth.of(0, 1, 0), 6, 0, 0, 0)
        .send();
    CallNode a = roots().get(1);
    assertThat(a.ending()).isEqualTo(Ending.UNWOUND);
    assertThat(a.recorded().results().isEmpty()).isTrue();
  }

  @Test
  void aSystemCallStandsInTheFunctionThatMadeIt() {
    stream
        .enter(1, 0, MAIN, 0x9000)
        .systemCall(5, 1, 64)
        .values(5, ValuesDepth.of(0, 4, 0), 1, 0x4000, 6, 0)
        .values(5, ValuesDepth.of(4, 2, 0), 0, 0, 0, 0)
        .systemCallEnd(8, 1, 64, 6)
        .systemCall(9, 1, 64)
        .systemCallEnd(9, 1, 64, -9)
        .systemCall(10, 1, 94)
        .end(12);
    List<CallNode> calls = roots().getFirst().children();
    assertThat(calls)
        .extracting(CallNode::kind, CallNode::selfPc, CallNode::enter, CallNode::exit)
        .containsExactly(
            tuple(TreeKind.SYSTEM_CALL, 64L, 5L, 8L),
            tuple(TreeKind.SYSTEM_CALL, 64L, 9L, 9L),
            tuple(TreeKind.SYSTEM_CALL, 94L, 10L, 12L));
    assertThat(calls.getFirst().recorded().arguments())
        .isEqualTo(new RecordedValues(0, LongList.of(1, 0x4000, 6, 0, 0, 0)));
    assertThat(calls.getFirst().recorded().results())
        .isEqualTo(new RecordedValues(0, LongList.of(6)));
    assertThat(calls.get(2).ending()).isEqualTo(Ending.ENDED);
    assertThat(ReportBuilder.of(stream.state()).build().systemCalls())
        .containsExactly(
            new SystemCallRow("", "write", "x86_64", 2, 1, 3),
            new SystemCallRow("", "exit_group", "x86_64", 1, 0, 0));
    assertThat(row("main").total()).isEqualTo(11);
  }

  @Test
  void aSystemCallThatALossCutsOffHasNoResult() {
    stream.systemCall(1, 0, 64).lost(2, 1).systemCallEnd(3, 0, 64, 6).send();
    assertThat(roots().getFirst().ending()).isEqualTo(Ending.TRUNCATED);
    assertThat(core().stats().get(Stat.UNKNOWN_EXITS)).isEqualTo(1);
  }

  @Test
  void aMarkKnowsWhatWasOpen() {
    stream
        .enter(1, 0, MAIN, 0x9000)
        .enter(2, 1, A, returnTo(MAIN))
        .mark(3, A, 4, 0)
        .mark(3, 0, 5, 12)
        .exit(4, 1, A, returnTo(MAIN))
        .mark(5, 0, 99, 0)
        .send();
    CallNode main = roots().getFirst();
    List<CallNode> marks = main.children().getFirst().children();
    assertThat(marks).extracting(CallNode::function).containsExactly("stacktrace", "settings");
    assertThat(marks.getFirst().recorded().stack()).containsExactly("a", "main");
    assertThat(marks.getFirst().recorded().caller()).isEqualTo("a");
    assertThat(marks.get(1).recorded().command()).isEqualTo(12);
    assertThat(main.children().get(1).function()).isEqualTo("mark 99");
  }

  @Test
  void theResultTellsOfThemAndASnapshotKeepsThem() {
    stream.enter(1, 0, MAIN, 0x9000);
    String without = ReportBuilder.of(stream.send().state()).build().resultHash();
    stream.systemCall(2, 1, 64).send();
    String with = ReportBuilder.of(stream.state()).build().resultHash();
    assertThat(with).isNotEqualTo(without);
    GraphState again = copy(stream.state());
    assertThat(ReportBuilder.of(again).build()).isEqualTo(ReportBuilder.of(stream.state()).build());
    Stream other = new Stream();
    other.enter(1, 0, MAIN, 0x9000).send().systemCall(2, 1, 63).send();
    assertThat(ReportBuilder.of(other.state()).build().resultHash()).isNotEqualTo(with);
  }

  private List<CallNode> roots() {
    return ReportBuilder.of(stream.state()).trees().getFirst().roots();
  }

  private CoreGraph core() {
    return stream.state().core(Stream.CORE).orElseThrow();
  }

  private FunctionRow row(String name) {
    return ReportBuilder.of(stream.state()).build().functions().stream()
        .filter(row -> row.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static GraphState copy(GraphState state) {
    try {
      return GraphState.ofCopy(state.copy(), GraphLimits.DEFAULT, StateBudget.UNLIMITED);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
