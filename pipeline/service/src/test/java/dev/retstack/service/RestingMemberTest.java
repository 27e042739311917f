package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.export.GraphText;
import dev.retstack.answers.question.View;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Protocols;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A member with more cores than its budget holds: all answers are those of a replay. */
class RestingMemberTest {
  private static final int CORES = Integer.getInteger("retstack.resting.cores", 100);

  /** Each core takes 80 KiB in memory; a fifth of what is left from three quarters on is more. */
  private static final int BUDGET = CORES * (32 << 10);

  private static final Waits WAITS = new Waits(Duration.ofMinutes(3));

  @ParameterizedTest
  @MethodSource(Protocols.SOME)
  void coresThatDoNotFitRestAndAnswersAreThoseOfAReplay(GroupProtocol protocol) throws Exception {
    LiveBench bench = LiveBench.fresh(2, CORES, protocol);
    PipelineConfig config = bench.config().but().stateBytes(BUDGET).build();
    bench.produce(0, 0.5);
    try (Pipeline first = PipelineService.start(config)) {
      bench.awaitScrape(first, page -> page.sum("retstack_cores_resting") > CORES / 4.0);
      bench.produce(0.5, 0.8);
      bench.awaitScrape(first, page -> page.sum("retstack_checkpoints_total") > 5);
    }
    try (Pipeline second = PipelineService.start(config)) { // which reads more than it can hold
      bench.produce(0.8, 1);
      bench.awaitEnded(second);
      GraphState state = States.of(bench.fleet());
      ReportBuilder expected = ReportBuilder.of(state);
      View view = WAITS.await(second.view());
      assertThat(view.report(Optional.empty(), false)).isEqualTo(expected.build());
      assertThat(text(view.trees())).isEqualTo(text(expected.trees()));
      assertThat(view.anomalies()).isEqualTo(expected.anomalies());
      assertThat(view.anomalies(AnomalySum.Query.DEFAULT))
          .isEqualTo(expected.anomalies(AnomalySum.Query.DEFAULT));
      assertThat(
              WAITS.await(second.progress()).stream()
                  .map(RestingMemberTest::apart)
                  .sorted()
                  .toList())
          .isEqualTo(
              state.summaries().stream()
                  .map(core -> apart(CoreProgress.of(0, core)))
                  .sorted()
                  .toList());
      Scraped page = bench.scrape(second);
      System.out.printf(
          "%s: %,.0f of %d cores rest, states hold %,.0f and reserve %,.0f of %,d bytes%n",
          protocol,
          page.sum("retstack_cores_resting"),
          CORES,
          page.sum("retstack_state_held_bytes"),
          page.sum("retstack_state_reserved_bytes"),
          BUDGET);
      assertThat(page.sum("retstack_cores")).isEqualTo(CORES);
      assertThat(page.sum("retstack_cores_resting")).isPositive();
      assertThat(page.sum("retstack_stat", "stat", "STATE_FULL")).isZero();
      assertThat(page.sum("retstack_chunks_total", "outcome", "refused")).isZero();
      assertThat(page.sum("retstack_state_held_bytes")).isLessThanOrEqualTo(BUDGET);
    }
  }

  /** A core without the partition that it is in. */
  private static String apart(CoreProgress core) {
    return "%s %d %d %d %d %s %s"
        .formatted(
            core.key(),
            core.chunks(),
            core.records(),
            core.lost(),
            core.time(),
            core.end(),
            core.endDetail());
  }

  private static String text(List<CallTree> trees) throws IOException {
    StringBuilder text = new StringBuilder();
    List<CallTree> sorted = trees.stream().sorted(Comparator.comparing(CallTree::core)).toList();
    GraphText.write(sorted, List.of(), text);
    return text.toString();
  }
}
