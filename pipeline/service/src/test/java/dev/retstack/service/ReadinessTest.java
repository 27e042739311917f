package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.BrokerPair;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Waits;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A member is ready once Kafka has taken a checkpoint of each of its partitions, and stays so:
 * where brokers take no writes later it says for how long, and answers. Here one of two brokers is
 * gone, and the topic of checkpoints wants both.
 */
class ReadinessTest {
  private static final Waits WAITS = new Waits(Duration.ofSeconds(60));
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void aMemberWhoseCheckpointsAreNotTakenIsNotReadyAndOneThatWasStaysSo() throws Exception {
    try (BrokerPair brokers = BrokerPair.start()) {
      LiveBench bench = LiveBench.at(brokers.bootstrap());
      bench.produce(0, 0.5);
      brokers.stopSecond();
      follow(brokers, bench);
    }
  }

  private static void follow(BrokerPair brokers, LiveBench bench) throws Exception {
    String state = bench.topics().state();
    brokers.minInSync(state, 2);
    try (Pipeline member = PipelineService.start(bench.config());
        HttpAsk ask = new HttpAsk(member.httpUri())) {
      WAITS.await(
          "the group gave it all partitions, and none can be opened",
          () ->
              ask.get("/health/ready").body().contains("partitions 0, 1, 2 are still being loaded")
                  && bench.scrape(member).sum("retstack_partition_open") == 0);
      HttpResponse<String> refused = ask.get("/health/ready");
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(JSON.readTree(refused.body()).path("cure").asText())
          .contains("brokers take writes");
      assertThat(ask.get("/health/live").statusCode()).isEqualTo(200);

      brokers.minInSync(state, 1);
      WAITS.await("it is ready", () -> ask.get("/health/ready").statusCode() == 200);
      WAITS.await("checkpoints are committed", () -> pending(ask) == 0);
      assertThat(ready(ask).path("loading")).isEmpty();

      brokers.minInSync(state, 2);
      bench.produce(0.5, 1);
      WAITS.await("a checkpoint waits for 2 s", () -> pending(ask) > 2);
      assertThat(bench.scrape(member).sum("retstack_checkpoint_pending_seconds")).isGreaterThan(2);
      HttpResponse<String> ready = ask.get("/health/ready");
      assertThat(ready.statusCode()).isEqualTo(200);
      assertThat(ready.headers().firstValue("Retstack-Partitions")).contains("owned=0,1,2; of=3");
      assertThat(ask.get("/report").statusCode()).isEqualTo(200);

      brokers.minInSync(state, 1);
      bench.awaitEnded(member);
      WAITS.await("the checkpoint is committed", () -> pending(ask) == 0);
      assertThat(bench.scrape(member).sum("retstack_partition_failures_total")).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(GroupProtocol.class)
  void aMemberToWhomTheGroupGivesNothingIsReadyToo(GroupProtocol protocol) throws Exception {
    LiveBench bench = LiveBench.fresh(1, 2, protocol);
    try (Pipeline one = PipelineService.start(bench.config());
        Pipeline two = PipelineService.start(bench.config());
        HttpAsk first = new HttpAsk(one.httpUri());
        HttpAsk second = new HttpAsk(two.httpUri())) {
      WAITS.await("the first is ready", () -> first.get("/health/ready").statusCode() == 200);
      WAITS.await("the second is ready", () -> second.get("/health/ready").statusCode() == 200);
    }
  }

  private static JsonNode ready(HttpAsk ask) throws Exception {
    return JSON.readTree(ask.get("/health/ready").body());
  }

  private static double pending(HttpAsk ask) throws Exception {
    return ready(ask).path("checkpointPendingSeconds").asDouble(-1);
  }
}
