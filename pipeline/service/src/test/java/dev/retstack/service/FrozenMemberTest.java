package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.MemberProcess;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.EnumSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A member that is stopped in mid-life (SIGSTOP) neither answers nor closes its connections. */
class FrozenMemberTest {
  private static final Duration WAIT = Duration.ofSeconds(90);
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void whoAsksIsToldSoonWhatIsMissingAndWhy() throws Exception {
    LiveBench bench = LiveBench.fresh();
    bench.produceAll();
    PipelineConfig query = bench.config().but().roles(EnumSet.of(Role.QUERY)).build();
    String hash = ReportBuilder.of(States.of(bench.fleet())).build().resultHash();
    try (MemberProcess owner = new MemberProcess(bench);
        Pipeline asked = PipelineService.start(query);
        HttpAsk ask = new HttpAsk(asked.httpUri())) {
      await(ask, report -> report.path("resultHash").asText().equals(hash));
      owner.freeze();
      long start = System.nanoTime();
      JsonNode parts = JSON.readTree(ask.get("/report").body()).path("parts");
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .as("time of the answer")
          .isLessThan(Duration.ofSeconds(30));
      assertThat(parts)
          .hasSize(LiveBench.PARTITIONS)
          .allSatisfy(
              part ->
                  assertThat(part.path("missing").asText())
                      .contains("127.0.0.1:" + owner.uri().getPort())
                      .contains("no answer within 5 s"));
      assertThat(ask.get("/health/live").statusCode()).isEqualTo(200);
      owner.thaw();
      await(ask, report -> report.path("resultHash").asText().equals(hash));
    }
  }

  private static void await(HttpAsk ask, Predicate<JsonNode> wanted) throws Exception {
    long began = System.nanoTime();
    JsonNode report = JSON.readTree(ask.get("/report").body());
    while (!wanted.test(report)) {
      Waits.pause(began, WAIT, report.path("parts"));
      report = JSON.readTree(ask.get("/report").body());
    }
  }
}
