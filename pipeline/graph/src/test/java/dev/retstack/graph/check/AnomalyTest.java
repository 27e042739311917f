package dev.retstack.graph.check;

import static dev.retstack.graph.Stream.A;
import static dev.retstack.graph.Stream.B;
import static dev.retstack.graph.Stream.C;
import static dev.retstack.graph.Stream.HANDLER;
import static dev.retstack.graph.Stream.MAIN;
import static dev.retstack.graph.Stream.fp;
import static dev.retstack.graph.Stream.returnTo;
import static dev.retstack.graph.Stream.slot;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.CoreEnd;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.StatRow;
import java.util.List;
import org.junit.jupiter.api.Test;

/** For each kind the records that make it, the exact message, and that tracing goes on. */
class AnomalyTest {

  private static Stream inA() {
    return new Stream().enter(0, 0, MAIN, 0x900).enter(10, 1, A, returnTo(MAIN));
  }

  @Test
  void framePointerMismatch() {
    Stream s =
        inA().exit(20, 1, A, returnTo(MAIN), slot(1), 0x41414141).exit(30, 0, MAIN, 0x900).end(30);
    AnomalyRow row = only(s);
    assertThat(row.kind()).isEqualTo(AnomalyKind.FRAME_POINTER_MISMATCH);
    assertThat(row.severity()).isEqualTo(Severity.ERROR);
    assertThat(row.message())
        .isEqualTo(
            "frame pointer differs: expected 0x7fe8, received 0x41414141;"
                + " from func a+0x4 return to main+0x1c (0x101c)");
    assertThat(row.expected()).isEqualTo(fp(1));
    assertThat(row.received()).isEqualTo(0x41414141);
    assertThat(row.stack()).containsExactly("a+0x4", "main");
    assertThat(row.time()).isEqualTo(20);
    assertThat(stats(s)).containsExactly("FRAME_POINTER_MISMATCHES 1");
    assertThat(s.state().report().functions()).allMatch(f -> f.finished() == 1);
  }

  @Test
  void returnAddressMismatchOfTheAddress() {
    Stream s = inA().exit(20, 1, A, 0x1210).exit(30, 0, MAIN, 0x900).end(30);
    assertThat(only(s).message())
        .isEqualTo(
            "return address differs: expected main+0x1c (0x101c), received b+0x10 (0x1210);"
                + " from func a+0x4 return to b+0x10 (0x1210)");
    assertThat(stats(s)).containsExactly("RETURN_ADDRESS_MISMATCHES 1");
  }

  @Test
  void returnAddressMismatchOfTheSlot() {
    Stream s =
        inA().exit(20, 1, A, returnTo(MAIN), slot(1) + 16, fp(1)).exit(30, 0, MAIN, 0x900).end(30);
    assertThat(only(s).kind()).isEqualTo(AnomalyKind.RETURN_ADDRESS_MISMATCH);
    assertThat(only(s).message())
        .isEqualTo(
            "return address slot differs: expected 0x7fe0, received 0x7ff0;"
                + " from func a+0x4 return to main+0x1c (0x101c)");
  }

  @Test
  void tailCall() {
    Stream s =
        inA()
            .tailEnter(15, 2, B)
            .exit(25, 2, B, HANDLER + 16)
            .exit(25, 1, A, returnTo(MAIN))
            .exit(30, 0, MAIN, 0x900)
            .end(30);
    assertThat(only(s).severity()).isEqualTo(Severity.INFO);
    assertThat(only(s).message())
        .isEqualTo(
            "tail call: func a+0x4 jumped to func b, which returns to main+0x1c (0x101c) for it");
    assertThat(stats(s)).containsExactly("TAIL_CALLS 1");
  }

  @Test
  void unwoundByAnExit() {
    Stream s =
        inA()
            .enter(20, 2, B, returnTo(A))
            .enter(30, 3, C, returnTo(B))
            .exit(40, 0, MAIN, 0x900)
            .end(40);
    AnomalyRow row = only(s);
    assertThat(row.message())
        .isEqualTo(
            "3 calls ended without returning: expected func c to return to b+0x1c (0x121c),"
                + " received func main");
    assertThat(row.count()).isEqualTo(3);
    assertThat(row.stack()).containsExactly("c", "b", "a+0x4", "main");
    assertThat(stats(s)).containsExactly("UNWOUND_CALLS 3");
  }

  @Test
  void unwoundByAnEntryAtTheSameDepth() {
    Stream s =
        inA()
            .enter(20, 1, B, returnTo(MAIN))
            .exit(25, 1, B, returnTo(MAIN))
            .exit(30, 0, MAIN, 0x900)
            .end(30);
    assertThat(only(s).message())
        .isEqualTo(
            "1 call ended without returning: expected func a+0x4 to return to main+0x1c (0x101c),"
                + " received func b");
  }

  @Test
  void unwoundByTheEndOfTheInterrupt() {
    Stream s =
        inA()
            .interrupt(20, 7, 2)
            .enter(21, 0, B, 0x900)
            .enter(22, 1, C, returnTo(B))
            .interruptEnd(30, 7)
            .exit(35, 1, A, returnTo(MAIN))
            .exit(40, 0, MAIN, 0x900)
            .end(40);
    AnomalyRow row = only(s);
    assertThat(row.message())
        .isEqualTo(
            "2 calls ended without returning: expected func c to return to b+0x1c (0x121c),"
                + " received the end of the interrupt");
    assertThat(row.stack()).containsExactly("c", "b");
    assertThat(stats(s)).containsExactly("UNWOUND_CALLS 2");
  }

  @Test
  void aFunctionThatReturnsByAnotherSlotMissesItsExit() {
    Stream s =
        Stream.missingExitsOf(A)
            .enter(0, 0, MAIN, 0x900)
            .enter(10, 1, A, returnTo(MAIN))
            .enter(20, 2, B, returnTo(A))
            .exit(25, 2, B, returnTo(A))
            .enter(30, 1, C, returnTo(MAIN))
            .exit(35, 1, C, returnTo(MAIN))
            .exit(40, 0, MAIN, 0x900)
            .end(40);
    AnomalyRow row = only(s);
    assertThat(row.kind()).isEqualTo(AnomalyKind.MISSED_EXIT);
    assertThat(row.severity()).isEqualTo(Severity.ERROR);
    assertThat(row.message())
        .startsWith(
            "missed exit: expected func a+0x4 to return to main+0x1c (0x101c) through the slot at"
                + " 0x7fe0, received func c; it realigns its stack")
        .contains("-mfentry", "-maccumulate-outgoing-args");
    assertThat(stats(s)).containsExactly("MISSED_EXITS 1");
  }

  @Test
  void aLongjmpOverAFunctionThatReturnsByAnotherSlotIsALongjmp() {
    Stream s =
        Stream.missingExitsOf(A)
            .enter(0, 0, MAIN, 0x900)
            .enter(10, 1, A, returnTo(MAIN))
            .enter(20, 2, B, returnTo(A))
            .enter(30, 1, C, returnTo(MAIN))
            .exit(35, 1, C, returnTo(MAIN))
            .exit(40, 0, MAIN, 0x900)
            .end(40);
    assertThat(only(s).kind()).isEqualTo(AnomalyKind.UNWOUND);
    assertThat(stats(s)).containsExactly("UNWOUND_CALLS 2");
  }

  @Test
  void misplacedExitBeyondTheStack() {
    Stream s = inA().exit(15, 5, C, returnTo(A)).end(20);
    assertThat(only(s).message())
        .isEqualTo(
            "exit without a matching entry: expected no open call, received func c;"
                + " from func c return to a+0x20 (0x1120)");
    assertThat(stats(s)).containsExactly("MISPLACED_EXITS 1", "ENDED_CALLS 2");
  }

  @Test
  void misplacedExitOfAnotherFunction() {
    Stream s = inA().exit(15, 1, C, returnTo(MAIN)).exit(30, 0, MAIN, 0x900).end(30);
    assertThat(only(s).message())
        .isEqualTo(
            "exit without a matching entry: expected func a+0x4, received func c;"
                + " from func c return to main+0x1c (0x101c)");
    assertThat(stats(s)).containsExactly("MISPLACED_EXITS 1", "UNWOUND_CALLS 1");
  }

  @Test
  void lostAndTruncated() {
    Stream s = inA().lost(20, 7).exit(30, 1, A, returnTo(MAIN)).exit(40, 0, MAIN, 0x900).end(40);
    assertThat(s.state().anomalies().stream().map(AnomalyRow::message))
        .containsExactly(
            "7 records dropped at the core before they were drained",
            "2 open calls cut off by a loss: when they ended is unknown");
    assertThat(s.state().anomalies().get(1).stack()).containsExactly("a+0x4", "main");
    assertThat(stats(s)).containsExactly("LOST_RECORDS 7", "TRUNCATED_CALLS 2", "UNKNOWN_EXITS 2");
    assertThat(s.state().report().completeness()).isEqualTo(100.0 * 4 / 11);
    assertThat(s.state().report().functions()).allMatch(f -> f.calls() == 1 && f.total() == 0);
  }

  @Test
  void sequenceGap() {
    Stream s = inA().send();
    s.enter(20, 2, B, returnTo(A)).skip();
    s.exit(30, 2, B, returnTo(A)).exit(40, 1, A, returnTo(MAIN)).skip();
    s.exit(50, 0, MAIN, 0x900).end(50);
    assertThat(s.state().anomalies().stream().map(AnomalyRow::message))
        .containsExactly(
            "sequence gap: expected chunk 1, received chunk 3: 3 records missing",
            "2 open calls cut off by a loss: when they ended is unknown");
    assertThat(stats(s))
        .containsExactly("GAP_RECORDS 3", "GAP_CHUNKS 2", "TRUNCATED_CALLS 2", "UNKNOWN_EXITS 1");
    assertThat(s.state().report().lost()).isEqualTo(3);
  }

  @Test
  void overrun() {
    Stream s = inA();
    ChunkMeta m = s.meta();
    s.send(
        new ChunkMeta(
            0, 0, 0, 12, 3, 0, m.lastTime(), ClockUnit.INSTRUCTIONS, CoreEnd.RUNNING, ""));
    assertThat(only(s).message()).isEqualTo("ret_stack was full: 12 calls ran untraced");
    assertThat(stats(s)).containsExactly("OVERRUNS 12", "UNHIJACKABLE 3", "OPEN_CALLS 2");
  }

  @Test
  void overrunsNameTheirFunctionsAndAreCountedForEach() {
    Stream s = inA();
    for (int i = 0; i < 30; i++) {
      s.overrun(12, 2, B, returnTo(A));
    }
    s.overrun(13, 2, C, returnTo(A));
    s.exit(20, 1, A, returnTo(MAIN)).exit(30, 0, MAIN, 0x900);
    ChunkMeta m = s.meta();
    s.send( // two of which no record could tell
        new ChunkMeta(
            m.sequence(),
            m.recordsBefore(),
            0,
            33,
            0,
            m.firstTime(),
            m.lastTime(),
            m.unit(),
            CoreEnd.RUNNING,
            ""));
    List<AnomalyRow> rows = s.state().anomalies();
    assertThat(rows).hasSize(22).allMatch(row -> row.kind() == AnomalyKind.OVERRUN);
    assertThat(rows.getFirst().message()).isEqualTo("ret_stack was full: func b ran untraced");
    assertThat(rows.getFirst().stack()).containsExactly("a+0x4", "main");
    assertThat(rows.get(19).message()).endsWith("; and 10 more here, only counted");
    assertThat(rows.get(20).function()).isEqualTo("c");
    assertThat(rows.get(21).message()).isEqualTo("ret_stack was full: 2 calls ran untraced");
    assertThat(stats(s)).contains("OVERRUNS 33");
    assertThat(s.state().report().functions())
        .filteredOn(f -> f.name().equals("b"))
        .allMatch(f -> f.calls() == 30);
  }

  @Test
  void aSmashedReturnEndsItsCallAndTracingGoesOn() {
    Stream s =
        inA()
            .enter(12, 2, B, returnTo(A))
            .smashed(15, 2, B, C, returnTo(A))
            .enter(16, 2, C, 0x777)
            .exit(18, 2, C, 0x777)
            .exit(20, 1, A, returnTo(MAIN))
            .exit(30, 0, MAIN, 0x900)
            .end(30);
    AnomalyRow row = only(s);
    assertThat(row.kind()).isEqualTo(AnomalyKind.STACK_SMASHED);
    assertThat(row.severity()).isEqualTo(Severity.ERROR);
    assertThat(row.message())
        .isEqualTo(
            "return address overwritten: expected a+0x20 (0x1120), received c (0x1300);"
                + " from func b through the slot at 0x7fc0");
    assertThat(row.stack()).containsExactly("b", "a+0x4", "main");
    assertThat(row.time()).isEqualTo(15);
    assertThat(stats(s)).containsExactly("STACK_SMASHES 1");
    assertThat(s.state().report().functions()).allMatch(f -> f.finished() == f.calls());
  }

  @Test
  void aSmashedReturnWhoseEntryWasLostIsToldAllTheSame() {
    Stream s =
        inA().lost(12, 1).smashed(15, 2, B, 0x40, returnTo(A)).exit(20, 1, A, returnTo(MAIN));
    s.exit(30, 0, MAIN, 0x900).end(30);
    assertThat(s.state().anomalies())
        .extracting(AnomalyRow::kind)
        .containsExactly(AnomalyKind.LOST, AnomalyKind.TRUNCATED, AnomalyKind.STACK_SMASHED);
    assertThat(s.state().anomalies().getLast().message()).contains("received 0x40; from func b");
  }

  @Test
  void aFloodOfOneKindDoesNotHideAnother() {
    Stream s = new Stream().enter(0, 0, MAIN, 0x900);
    for (int i = 0; i < 300; i++) {
      s.exit(i, 9, C + i, 0x900);
    }
    s.exit(400, 0, MAIN, 0x900, slot(0), 1).end(400);
    assertThat(s.state().anomalies()).hasSize(101);
    assertThat(s.state().anomalies().getLast().kind())
        .isEqualTo(AnomalyKind.FRAME_POINTER_MISMATCH);
    assertThat(stats(s))
        .containsExactly(
            "FRAME_POINTER_MISMATCHES 1", "MISPLACED_EXITS 300", "ANOMALIES_NOT_KEPT 200");
  }

  @Test
  void aFunctionThatGoesWrongOftenDoesNotHideAnotherAndIsCountedExactly() {
    Stream s = new Stream().enter(0, 0, MAIN, 0x900);
    for (int i = 0; i < 300; i++) {
      s.exit(i, 9, C, 0x900);
    }
    s.exit(300, 9, B, 0x900).exit(400, 0, MAIN, 0x900).end(400);
    List<AnomalyRow> rows = s.state().anomalies();
    assertThat(rows).hasSize(21);
    assertThat(rows.get(18).message()).doesNotContain("more here");
    assertThat(rows.get(19).message()).endsWith("; and 280 more here, only counted");
    assertThat(rows.get(20).function()).isEqualTo("b");
    assertThat(stats(s)).containsExactly("MISPLACED_EXITS 301", "ANOMALIES_NOT_KEPT 280");
  }

  private static AnomalyRow only(Stream s) {
    assertThat(s.state().anomalies()).hasSize(1);
    return s.state().anomalies().get(0);
  }

  private static List<String> stats(Stream s) {
    return s.state().report().stats().stream().map(AnomalyTest::line).toList();
  }

  private static String line(StatRow row) {
    return row.name() + " " + row.count();
  }
}
