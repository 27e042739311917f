package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Members find each other through Kafka alone, and share the work. */
class MembersTest {
  private static final Duration WAIT = Duration.ofSeconds(40);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final LiveBench bench = LiveBench.fresh();

  @Test
  void membersFindEachOtherAndOneLeavesInOrder() throws Exception {
    bench.produceAll();
    PipelineConfig config = bench.config();
    try (Pipeline one = PipelineService.start(config);
        HttpAsk ask = new HttpAsk(one.httpUri())) {
      try (Pipeline _ = PipelineService.start(config)) {
        awaitUp(ask, 2, 2);
        assertThat(ask.get("/metrics").body())
            .contains("retstack_members{state=\"unreachable\"} 0.0");
      }
      awaitUp(ask, 1, 1);
      bench.awaitEnded(one);
      assertThat(JSON.readTree(ask.get("/report").body()).path("resultHash").asText())
          .isEqualTo(ReportBuilder.of(States.of(bench.fleet())).build().resultHash());
    }
  }

  /** Asks until so many members are up, and so many give all partitions. */
  private static void awaitUp(HttpAsk ask, int members, int givers) throws Exception {
    long began = System.nanoTime();
    while (true) {
      JsonNode parts = JSON.readTree(ask.get("/parts").body());
      int up = 0;
      for (JsonNode node : parts.path("nodes")) {
        up += node.path("state").asText().equals("up") ? 1 : 0;
      }
      Set<String> found = new TreeSet<>();
      parts.path("parts").forEach(part -> found.add(part.path("node").asText()));
      if (up == members && found.size() == givers && !found.contains("")) {
        return;
      }
      Waits.pause(began, WAIT, parts);
    }
  }
}
