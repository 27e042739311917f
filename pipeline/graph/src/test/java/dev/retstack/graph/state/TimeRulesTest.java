package dev.retstack.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.totals.TimeRules;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What totals are by each rule of time, computed by hand: main runs from 10 to 80; from 20 to 50
 * another task does; from 60 to 70 an interrupt; a from 72 to 75 is called by main.
 */
class TimeRulesTest {
  private static final long TICK = Stream.C;
  private static final long WORK = Stream.B;

  @ParameterizedTest
  @CsvSource({
    "true,  true,  true,  70, 10, 3, 3",
    "false, true,  true,  40, 10, 3, 3",
    "true,  false, true,  27, 10, 3, 3",
    "true,  true,  false, 60, 10, 3, -1",
    "false, true,  false, 30, 10, 3, -1",
    "false, false, true,  27, 10, 3, 3",
    "true,  false, false, 27, 10, 3, -1",
    "false, false, false, 27, 10, 3, -1",
  })
  void totalsAreThoseComputedByHand(
      boolean sleep, boolean graph, boolean irqs, long main, long work, long a, long tick) {
    Report report = report(new TimeRules(sleep, graph, irqs));
    assertThat(total(report, "main")).isEqualTo(main);
    assertThat(total(report, "b")).isEqualTo(work);
    assertThat(total(report, "a")).isEqualTo(a);
    assertThat(total(report, "c")).isEqualTo(tick);
    assertThat(row(report, "main").self()).as("never changed by a rule").isEqualTo(27);
    assertThat(row(report, "main").min()).isEqualTo(main);
    assertThat(row(report, "main").max()).isEqualTo(main);
    assertThat(row(report, "main").wall()).as("never changed by a rule").isEqualTo(70);
    assertThat(row(report, "b").wall()).isEqualTo(10);
  }

  /** One record is lost between 70 and 80; of main it is known that it continues, to 90. */
  @ParameterizedTest
  @CsvSource({"true, true, 80", "false, true, 50", "true, false, 60", "false, false, 30"})
  void timeOfALossCountsWhereInterruptsDo(boolean sleep, boolean irqs, long main) {
    Stream s = new Stream(new GraphState(GraphLimits.DEFAULT, new TimeRules(sleep, true, irqs)));
    s.enter(10, 0, Stream.MAIN, 0x900)
        .enter(12, 1, Stream.A, Stream.returnTo(Stream.MAIN))
        .enter(14, 2, WORK, Stream.returnTo(Stream.A))
        .started(20, 7)
        .switched(50, 0, 3)
        .interrupt(60, 32, 3)
        .interruptEnd(70, 32)
        .lost(80, 1)
        .exit(80, 2, WORK, Stream.returnTo(Stream.A))
        .exit(85, 1, Stream.A, Stream.returnTo(Stream.MAIN))
        .exit(90, 0, Stream.MAIN, 0x900)
        .send();
    assertThat(total(ReportBuilder.of(s.state()).build(), "main")).isEqualTo(main);
  }

  private static Report report(TimeRules rules) {
    return ReportBuilder.of(
            new Stream(new GraphState(GraphLimits.DEFAULT, rules))
                .enter(10, 0, Stream.MAIN, 0x900)
                .started(20, 7)
                .enter(30, 0, WORK, 0x900)
                .exit(40, 0, WORK, 0x900)
                .switched(50, 0, 1)
                .interrupt(60, 32, 1)
                .enter(62, 0, TICK, 0x900)
                .exit(65, 0, TICK, 0x900)
                .interruptEnd(70, 32)
                .enter(72, 1, Stream.A, Stream.returnTo(Stream.MAIN))
                .exit(75, 1, Stream.A, Stream.returnTo(Stream.MAIN))
                .exit(80, 0, Stream.MAIN, 0x900)
                .send()
                .state())
        .build();
  }

  private static long total(Report report, String name) {
    List<FunctionRow> rows = rows(report, name);
    return rows.isEmpty() ? -1 : rows.getFirst().total();
  }

  private static FunctionRow row(Report report, String name) {
    return rows(report, name).getFirst();
  }

  private static List<FunctionRow> rows(Report report, String name) {
    return report.functions().stream().filter(row -> row.name().equals(name)).toList();
  }
}
