package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.Profile;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/**
 * Totals are published now and then while cores run, and nothing of them is lost by it: not when a
 * core ends, not when the member stops, not when it dies.
 */
class TotalsTest {
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));

  private final LiveBench bench = LiveBench.fresh();
  private final PipelineConfig config =
      bench.config().but().totalsInterval(Duration.ofHours(1)).build();

  @Test
  void whatADeadMemberOwedTheNextOnePublishes() throws Exception {
    Pipeline first = thatOwesTotals();
    long inState = calls(first);
    assertThat(published()).isPositive().isLessThan(inState);
    WAITS.await(first.abort());
    try (Pipeline second = PipelineService.start(config)) {
      WAITS.await("totals that were owed", () -> published() == inState);
      assertThat(calls(second)).isEqualTo(inState);
      bench.produce(0.8, 1);
      bench.awaitEnded(second);
      long whole =
          ReportBuilder.of(States.of(bench.fleet())).build().functions().stream()
              .mapToLong(f -> f.calls())
              .sum();
      WAITS.await("totals of cores that ended", () -> published() == whole);
    }
  }

  @Test
  void aMemberThatStopsPublishesThemAll() throws Exception {
    Pipeline member = thatOwesTotals();
    long inState = calls(member);
    WAITS.await(member.stop());
    assertThat(published()).isEqualTo(inState);
  }

  /** Its checkpoints hold more than it has published totals of. */
  private Pipeline thatOwesTotals() throws Exception {
    Pipeline member = PipelineService.start(config);
    bench.produce(0, 0.4);
    awaitAllWritten(member, 0.4);
    WAITS.await("first totals", () -> published() > 0);
    bench.produce(0.4, 0.8);
    awaitAllWritten(member, 0.8);
    return member;
  }

  /** All chunks up to here are in the state, and in checkpoints. */
  private void awaitAllWritten(Pipeline member, double part) throws Exception {
    long chunks =
        bench.fleet().stream().mapToLong(core -> (int) (core.chunks().size() * part)).sum();
    bench.awaitScrape(
        member,
        page ->
            page.sum("retstack_next_offset") == chunks
                && page.sum("retstack_checkpoint_behind_chunks") == 0);
  }

  private static long calls(Pipeline member) throws Exception {
    try (HttpAsk ask = new HttpAsk(member.httpUri())) {
      long calls = 0;
      for (JsonNode row :
          new ObjectMapper().readTree(ask.get("/report").body()).path("functions")) {
        calls += row.path("calls").asLong();
      }
      return calls;
    }
  }

  /** Calls of all functions, as a reader of the topic knows them now. */
  private long published() throws Exception {
    Map<String, Long> calls = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> row :
        TopicReader.records(bench.kafka(), bench.topics().profiles())) {
      Profile profile = ConfluentFrame.decode(row.value(), Profile.class);
      if (profile.getCaller() == null) {
        calls.put(new String(row.key(), UTF_8), profile.getCalls());
      }
    }
    return calls.values().stream().mapToLong(Long::longValue).sum();
  }
}
