package dev.retstack.graph.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReportTest {

  @Test
  void completenessIsBelow100WhateverIsMissing() {
    assertThat(Report.completeness(0, 0, 0, false)).isEqualTo(100);
    assertThat(Report.completeness(98, 2, 0, false)).isEqualTo(98);
    assertThat(Report.completeness(98, 0, 1, false)).isEqualTo(98);
    assertThat(Report.completeness(0, 0, 1, false)).isZero();
    long many = Long.MAX_VALUE;
    assertThat(Report.completeness(many, 1, 0, false)).isLessThan(100);
    assertThat(Report.completeness(many, 0, 1, false)).isLessThan(100);
    assertThat(Report.completeness(many, many, many, false)).isEqualTo(25);
  }

  @Test
  void unitsAreNeverAdded() {
    Stream s = new Stream().enter(0, 0, Stream.MAIN, 0x900).exit(9, 0, Stream.MAIN, 0x900).send();
    RecordBatch batch = new RecordBatch(1);
    batch.add(RecordBatch.ENTRY, 5, 0, Stream.A, 0x900, 0, 0);
    s.state()
        .apply(
            ChunkMeta.running(0, 0, 5, 5, ClockUnit.NANOSECONDS),
            new CoreKey("s", "other"),
            Stream.IMAGE_ID,
            batch);
    Report usual = ReportBuilder.of(s.state()).build();
    assertThat(usual.unit()).as("that of most records").isEqualTo(ClockUnit.INSTRUCTIONS);
    assertThat(usual.units().leftOut()).isEqualTo(Map.of(ClockUnit.NANOSECONDS, 1));
    assertThat(usual.cores()).hasSize(1);
    ReportBuilder other = ReportBuilder.of(s.state()).in(Optional.of(ClockUnit.NANOSECONDS));
    assertThat(other.build().functions()).extracting(FunctionRow::name).containsExactly("a");
    assertThat(other.build().units().leftOut()).isEqualTo(Map.of(ClockUnit.INSTRUCTIONS, 1));
  }

  @Test
  void anEmptyStateHasAReport() {
    Report report = new ReportBuilder().build();
    assertThat(report.completeness()).isEqualTo(100);
    assertThat(report.functions()).isEmpty();
  }

  @Test
  void openCallsReachToTheClock() {
    Stream s =
        new Stream()
            .enter(3, 0, Stream.MAIN, 0x900)
            .enter(4, 1, Stream.A, Stream.returnTo(Stream.MAIN))
            .exit(9, 1, Stream.A, Stream.returnTo(Stream.MAIN))
            .send();
    CallNode main = ReportBuilder.of(s.state()).trees().get(0).roots().get(0);
    assertThat(main).hasToString("main 3..9 OPEN (1 below)");
    assertThat(ReportBuilder.of(s.state()).build().stats())
        .containsExactly(new StatRow(Stat.OPEN_CALLS, 1));
  }

  @Test
  void eventsTellOfLongCallsAndOfAnomalies() {
    Stream s = new Stream();
    List<String> heard = new ArrayList<>();
    s.state().events(new Recorder(heard));
    s.enter(0, 0, Stream.MAIN, 0x900)
        .enter(10, 1, Stream.A, Stream.returnTo(Stream.MAIN))
        .enter(11, 2, Stream.B, Stream.returnTo(Stream.A))
        .exit(12, 2, Stream.B, Stream.returnTo(Stream.A))
        .exit(30, 1, Stream.A, Stream.returnTo(Stream.MAIN), Stream.slot(1), 7)
        .exit(40, 0, Stream.MAIN, 0x900)
        .send();
    assertThat(heard)
        .containsExactly(
            "core0 FRAME_POINTER_MISMATCH",
            "core0 1104 from 1000 level 1: 10..30 self 19 RETURNED",
            "core0 1000 from 0 level 0: 0..40 self 20 RETURNED");
  }

  @Test
  void fieldsOfTheCanonicalTextCannotBeMistaken() {
    assertThat(ResultText.quote("exit code 0\n\\é"))
        .isEqualTo("exit\\u0020code\\u00200\\u000a\\u005c\\u00e9");
    assertThat(ResultText.quote("")).isEqualTo("\\e");
  }

  private record Recorder(List<String> heard) implements GraphEvents {
    @Override
    public long threshold() {
      return 20;
    }

    @Override
    public void finished(FinishedCall c) {
      heard.add(
          "%s %x from %x level %d: %d..%d self %d %s"
              .formatted(
                  c.core().core(),
                  c.selfPc(),
                  c.callerPc(),
                  c.level(),
                  c.enter(),
                  c.exit(),
                  c.self(),
                  c.ending()));
    }

    @Override
    public void anomaly(CoreGraph core, Anomaly found) {
      AnomalyRow row = AnomalyRow.of(core, found);
      heard.add(row.core() + " " + row.kind());
    }
  }
}
