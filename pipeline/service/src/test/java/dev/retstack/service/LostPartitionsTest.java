package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.junit.jupiter.api.Test;

/**
 * The group shuts a member out, and nobody asked it before: what it has not committed is undone.
 */
class LostPartitionsTest {
  private static final Waits WAITS = new Waits(Duration.ofSeconds(90));

  /** The broker removes members of classic groups only. */
  @Test
  void aMemberThatIsShutOutWritesNothing() throws Exception {
    LiveBench bench = LiveBench.fresh(LiveBench.PARTITIONS, 5, GroupProtocol.CLASSIC);
    PipelineConfig config =
        bench.config().but().checkpoints(Duration.ofHours(1), Integer.MAX_VALUE).build();
    bench.produce(0, 0.5);
    try (Pipeline member = PipelineService.start(config);
        HttpAsk ask = new HttpAsk(member.httpUri());
        Admin admin = Admin.create(bench.kafka().admin())) {
      bench.awaitScrape(
          member,
          page ->
              page.sum("retstack_partition_open") == LiveBench.PARTITIONS
                  && page.sum("retstack_lag_chunks") == 0
                  && page.sum("retstack_state_records") > 0);
      admin
          .removeMembersFromConsumerGroup(
              bench.topics().prefix(), new RemoveMembersFromConsumerGroupOptions())
          .all()
          .get();
      bench.awaitScrape(
          member,
          page ->
              page.sum("retstack_partition_epoch") >= 2 * LiveBench.PARTITIONS
                  && page.sum("retstack_lag_chunks") == 0);
      assertThat(bench.scrape(member).sum("retstack_checkpoints_total")).isZero();
      String group = bench.topics().prefix();
      var committed = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
      assertThat(committed)
          .as("what the openings committed")
          .hasSize(LiveBench.PARTITIONS)
          .allSatisfy((_, offset) -> assertThat(offset.offset()).isZero());
      bench.produce(0.5, 1);
      bench.awaitEnded(member);
      String hash = ReportBuilder.of(States.of(bench.fleet())).build().resultHash();
      WAITS.await("the result", () -> ask.get("/report").body().contains(hash));
    }
  }
}
