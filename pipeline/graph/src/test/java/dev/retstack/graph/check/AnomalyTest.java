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
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.Stream;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.schema.record.EndDetail;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
    assertThat(ReportBuilder.of(s.state()).build().functions()).allMatch(f -> f.finished() == 1);
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
    assertThat(ReportBuilder.of(s.state()).anomalies()).isEmpty();
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
    assertThat(ReportBuilder.of(s.state()).anomalies()).isEmpty();
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
    assertThat(ReportBuilder.of(s.state()).anomalies()).isEmpty();
    assertThat(stats(s)).containsExactly("UNWOUND_CALLS 1");
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
    assertThat(ReportBuilder.of(s.state()).anomalies()).isEmpty();
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
    assertThat(ReportBuilder.of(s.state()).anomalies()).isEmpty();
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
    assertThat(ReportBuilder.of(s.state()).anomalies().stream().map(AnomalyRow::message))
        .containsExactly(
            "exit without a matching entry: expected func a+0x4, received func c;"
                + " from func c return to main+0x1c (0x101c)");
    assertThat(stats(s)).containsExactly("MISPLACED_EXITS 1", "UNWOUND_CALLS 1");
  }

  @Test
  void lostAndTruncated() {
    Stream s = inA().lost(20, 7).exit(30, 1, A, returnTo(MAIN)).exit(40, 0, MAIN, 0x900).end(40);
    assertThat(ReportBuilder.of(s.state()).anomalies().stream().map(AnomalyRow::message))
        .containsExactly(
            "7 records dropped at the core before they were drained",
            "2 open calls cut off by a loss: when they ended is unknown");
    assertThat(ReportBuilder.of(s.state()).anomalies().get(1).stack())
        .containsExactly("a+0x4", "main");
    assertThat(stats(s)).containsExactly("LOST_RECORDS 7", "TRUNCATED_CALLS 2", "UNKNOWN_EXITS 2");
    assertThat(ReportBuilder.of(s.state()).build().completeness()).isEqualTo(100.0 * 4 / 11);
    assertThat(ReportBuilder.of(s.state()).build().functions())
        .allMatch(f -> f.calls() == 1 && f.total() == 0);
  }

  @Test
  void sequenceGap() {
    Stream s = inA().send();
    s.enter(20, 2, B, returnTo(A)).skip();
    s.exit(30, 2, B, returnTo(A)).exit(40, 1, A, returnTo(MAIN)).skip();
    s.exit(50, 0, MAIN, 0x900).end(50);
    assertThat(ReportBuilder.of(s.state()).anomalies().stream().map(AnomalyRow::message))
        .containsExactly(
            "sequence gap: expected chunk 1, received chunk 3: 3 records missing",
            "2 open calls cut off by a loss: when they ended is unknown");
    assertThat(stats(s))
        .containsExactly("GAP_RECORDS 3", "GAP_CHUNKS 2", "TRUNCATED_CALLS 2", "UNKNOWN_EXITS 1");
    assertThat(ReportBuilder.of(s.state()).build().lost()).isEqualTo(3);
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
    Report report = ReportBuilder.of(s.state()).build();
    assertThat(report.lost()).isZero();
    assertThat(report.untraced()).isEqualTo(15);
    assertThat(report.completeness()).isEqualTo(100.0 * 2 / (2 + 2 * 15));
    assertThat(report.cores().getFirst().completeness()).isEqualTo(report.completeness());
  }

  @Test
  void callsThatWereForgottenAreCountedAndNoAnomaly() {
    Stream s = inA();
    ChunkMeta m = s.meta();
    s.send(new ChunkMeta(0, 0, 0, 0, 0, 7, 0, m.lastTime(), m.unit(), CoreEnd.RUNNING, "", 0, 0));
    assertThat(ReportBuilder.of(s.state()).anomalies()).isEmpty();
    assertThat(stats(s)).containsExactly("ABANDONED_CALLS 7", "OPEN_CALLS 2");
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
    List<AnomalyRow> rows = ReportBuilder.of(s.state()).anomalies();
    assertThat(rows).hasSize(22).allMatch(row -> row.kind() == AnomalyKind.OVERRUN);
    assertThat(rows.getFirst().message()).isEqualTo("ret_stack was full: func b ran untraced");
    assertThat(rows.getFirst().stack()).containsExactly("a+0x4", "main");
    assertThat(rows.get(20).function()).isEqualTo("c");
    assertThat(rows.get(21).message()).isEqualTo("ret_stack was full: 2 calls ran untraced");
    assertThat(stats(s)).contains("OVERRUNS 33");
    assertThat(ReportBuilder.of(s.state()).build().functions())
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
    assertThat(ReportBuilder.of(s.state()).build().functions())
        .allMatch(f -> f.finished() == f.calls());
  }

  @Test
  void aSmashedReturnWhoseEntryWasLostIsToldAllTheSame() {
    Stream s =
        inA().lost(12, 1).smashed(15, 2, B, 0x40, returnTo(A)).exit(20, 1, A, returnTo(MAIN));
    s.exit(30, 0, MAIN, 0x900).end(30);
    assertThat(ReportBuilder.of(s.state()).anomalies())
        .extracting(AnomalyRow::kind)
        .containsExactly(AnomalyKind.LOST, AnomalyKind.TRUNCATED, AnomalyKind.STACK_SMASHED);
    assertThat(ReportBuilder.of(s.state()).anomalies().getLast().message())
        .contains("received 0x40; from func b");
  }

  @Test
  void aFloodOfOneKindDoesNotHideAnother() {
    Stream s = new Stream().enter(0, 0, MAIN, 0x900);
    for (int i = 0; i < 300; i++) {
      s.exit(i, 9, C + i, 0x900);
    }
    s.exit(400, 0, MAIN, 0x900, slot(0), 1).end(400);
    assertThat(ReportBuilder.of(s.state()).anomalies()).hasSize(101);
    assertThat(ReportBuilder.of(s.state()).anomalies().getLast().kind())
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
    List<AnomalyRow> rows = ReportBuilder.of(s.state()).anomalies();
    assertThat(rows).hasSize(21);
    assertThat(rows.get(20).function()).isEqualTo("b");
    assertThat(stats(s)).containsExactly("MISPLACED_EXITS 301", "ANOMALIES_NOT_KEPT 280");
  }

  @Test
  void aFaultIsAnErrorWithItsPlaceAndTheOpenCalls() {
    Stream s = inA().enter(20, 2, C, returnTo(A));
    String detail = EndDetail.byPc("c+0x14 (0x1314)");
    s.send(s.meta().ending(CoreEnd.FAULTED, "unmapped write at 0x5a58" + detail, 33));
    AnomalyRow row = only(s);
    assertThat(row.kind()).isEqualTo(AnomalyKind.FAULTED);
    assertThat(row.severity()).isEqualTo(Severity.ERROR);
    assertThat(row.message())
        .isEqualTo("core faulted: unmapped write at 0x5a58 by pc c+0x14 (0x1314); in func c");
    assertThat(row.stack()).containsExactly("c", "a+0x4", "main");
    assertThat(row.time()).isEqualTo(33);
    assertThat(stats(s)).containsExactly("FAULTED_CORES 1", "ENDED_CALLS 3");
  }

  @Test
  void aFaultOutsideOfAllCallsAndWithoutWordsIsOneToo() {
    Stream s = new Stream();
    s.send(s.meta().ending(CoreEnd.FAULTED, "", 5));
    assertThat(only(s).message()).isEqualTo("core faulted: no reason was given; no call is open");
    assertThat(only(s).stack()).isEmpty();
  }

  @Test
  void aCoreThatWaitsForEverIsCounted() {
    Stream s = inA();
    s.send(s.meta().ending(CoreEnd.HALTED, EndDetail.waiting("main+0x4 (0x1004)", false), 19));
    assertThat(stats(s)).containsExactly("WAITING_CORES 1", "ENDED_CALLS 2");
  }

  /** Each kind is planted so often that most of it has no row, at two places. */
  @ParameterizedTest
  @EnumSource(
      value = AnomalyKind.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"FAULTED", "CUT_TRACE"})
  void theCountsOfAllSumsOfAKindAreWhatWasPlanted(AnomalyKind kind) {
    Stream s = kind == AnomalyKind.MISSED_EXIT ? Stream.missingExitsOf(B, C) : new Stream();
    s.enter(0, 0, MAIN, 0x900);
    int planted = 300;
    for (int i = 0; i < planted; i++) {
      plant(s, kind, 10L * (i + 1), i % 3 == 0 ? B : C);
      if (i % 50 == 0) {
        s.send();
      }
    }
    s.exit(5000, 0, MAIN, 0x900).end(5000);
    long of = kind == AnomalyKind.TRUNCATED || kind == AnomalyKind.LOST ? 2 : 1;
    for (AnomalySum.Query query : List.of(ERRORS, AnomalySum.Query.DEFAULT, EACH)) {
      assertThat(count(s, kind, query)).as("%s", query).isEqualTo(planted * of);
    }
    List<AnomalySum> all = ReportBuilder.of(s.state()).anomalies(AnomalySum.Query.DEFAULT);
    assertThat(all)
        .filteredOn(sum -> sum.kind() == kind && !sum.sample().function().isEmpty())
        .allMatch(sum -> sum.times() > sum.kept() && sum.kept() > 0 && sum.cores() == 1);
    assertThat(all.stream().map(sum -> sum.kind().severity()))
        .isSortedAccordingTo(Comparator.reverseOrder());
    sumsAreStats(s);
  }

  private static void plant(Stream s, AnomalyKind kind, long t, long self) {
    long home = returnTo(MAIN);
    switch (kind) {
      case FRAME_POINTER_MISMATCH ->
          s.enter(t, 1, self, home).exit(t + 1, 1, self, home, slot(1), 0x4141);
      case RETURN_ADDRESS_MISMATCH -> s.enter(t, 1, self, home).exit(t + 1, 1, self, home + 4);
      case MISSED_EXIT ->
          s.enter(t, 1, self, home).enter(t + 1, 1, A, home).exit(t + 2, 1, A, home);
      case STACK_SMASHED -> s.enter(t, 1, self, home).smashed(t + 1, 1, self, A, home);
      case MISPLACED_EXIT -> s.exit(t, 9, self, home);
      case KEYFRAME_MISMATCH -> {
        s.send().enter(t, 1, self, home).send();
        s.opens(Stream.open(0, 0, MAIN, 0x900)).exit(t + 1, 1, self, home);
      }
      case OVERRUN -> s.overrun(t, 2, self, home);
      case LOST -> s.lost(t, 2);
      case SEQUENCE_GAP -> {
        s.send();
        s.function(t, self, home).skip();
      }
      case TRUNCATED -> {
        s.enter(t, 1, self, home)
            .lost(t + 1, 2)
            .exit(t + 2, 1, self, home)
            .exit(t + 3, 0, MAIN, 0x900);
        s.enter(t + 4, 0, MAIN, 0x900);
      }
      case FAULTED, CUT_TRACE -> throw new IllegalArgumentException("not here: " + kind);
    }
  }

  @Test
  void whatIsLessSevereThanAskedForIsOneLineOfItsKind() {
    Stream s = new Stream().enter(0, 0, MAIN, 0x900);
    for (int i = 0; i < 40; i++) {
      plant(s, AnomalyKind.OVERRUN, 10L * (i + 1), i < 30 ? B : C);
    }
    s.exit(500, 0, MAIN, 0x900).end(500);
    List<AnomalySum> folded = ReportBuilder.of(s.state()).anomalies(ERRORS);
    assertThat(folded).hasSize(1);
    assertThat(folded.getFirst().count()).isEqualTo(40);
    assertThat(folded.getFirst().groups()).isEqualTo(2);
    assertThat(ReportBuilder.of(s.state()).anomalies(AnomalySum.Query.DEFAULT))
        .extracting(sum -> sum.sample().function(), AnomalySum::place, AnomalySum::count)
        .containsExactly(tuple("b", "", 30L), tuple("c", "", 10L));
  }

  @Test
  void placesBeyondTheLimitAreCountedTogether() {
    Stream s = new Stream().enter(0, 0, MAIN, 0x900);
    for (int i = 0; i < 1000; i++) {
      s.exit(i, 9, C, 0x900 + i);
    }
    s.exit(2000, 0, MAIN, 0x900).end(2000);
    List<AnomalySum> sums = ReportBuilder.of(s.state()).anomalies(AnomalySum.Query.DEFAULT);
    assertThat(sums).hasSize(257);
    assertThat(sums.getFirst().times()).isEqualTo(1000 - 256);
    assertThat(sums.getFirst().sample().message()).contains("beyond the first");
    sumsAreStats(s);
  }

  private static final AnomalySum.Query EACH =
      new AnomalySum.Query("", "", TaskChoice.ALL, Severity.WARNING, Grouping.EACH);

  private static final AnomalySum.Query ERRORS =
      new AnomalySum.Query("", "", TaskChoice.ALL, Severity.ERROR, Grouping.GROUPS);

  private static long count(Stream s, AnomalyKind kind, AnomalySum.Query query) {
    return ReportBuilder.of(s.state()).anomalies(query).stream()
        .filter(sum -> sum.kind() == kind)
        .mapToLong(AnomalySum::count)
        .sum();
  }

  private static void sumsAreStats(Stream s) {
    Map<String, Long> stats =
        ReportBuilder.of(s.state()).build().stats().stream()
            .collect(Collectors.toMap(StatRow::name, StatRow::count));
    for (AnomalyKind kind : AnomalyKind.values()) {
      assertThat(count(s, kind, AnomalySum.Query.DEFAULT))
          .as("%s", kind)
          .isEqualTo(stats.getOrDefault(kind.stat().name(), 0L));
    }
  }

  private static AnomalyRow only(Stream s) {
    sumsAreStats(s);
    assertThat(ReportBuilder.of(s.state()).anomalies()).hasSize(1);
    return ReportBuilder.of(s.state()).anomalies().get(0);
  }

  private static List<String> stats(Stream s) {
    return ReportBuilder.of(s.state()).build().stats().stream().map(AnomalyTest::line).toList();
  }

  private static String line(StatRow row) {
    return row.name() + " " + row.count();
  }
}
