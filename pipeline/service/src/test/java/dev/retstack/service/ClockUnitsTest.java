package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.graph.check.Stat;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.transfer.TraceProducer;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One core whose clock has another unit, and one of a unit that nobody knows, among a fleet. */
class ClockUnitsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final LiveBench bench = LiveBench.fresh();
  private static Pipeline pipeline;
  private static HttpAsk ask;

  @BeforeAll
  static void start() throws Exception {
    bench.produceAll();
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      CoreScript other = script("other");
      producer.image(other.image());
      producer.chunk(in(ClockUnit.NANOSECONDS, other));
      producer.chunk(in(ClockUnit.UNKNOWN, script("odd")));
      producer.flush();
    }
    pipeline = PipelineService.start(bench.config());
    bench.awaitEnded(pipeline);
    bench.awaitRest(pipeline);
    ask = new HttpAsk(pipeline.httpUri());
  }

  @AfterAll
  static void stop() {
    ask.close();
    pipeline.close();
  }

  private static CoreScript script(String core) {
    return new CoreScript(CoreScript.image("clocks", "main", "leaf"), "clocks", core)
        .enter("main")
        .tick(10)
        .enter("leaf")
        .tick(7)
        .exit()
        .chunk();
  }

  private static Chunk in(ClockUnit unit, CoreScript core) {
    return Chunks.seal(Chunk.newBuilder(core.chunks().getFirst()).setClockUnit(unit).build());
  }

  private static JsonNode json(String path) throws Exception {
    HttpResponse<String> answer = ask.get(path);
    assertThat(answer.statusCode()).as(path + ": " + answer.body()).isEqualTo(200);
    JsonNode read = JSON.readTree(answer.body());
    ((ObjectNode) read).remove(List.of("parts", "positions")); // they have ages
    return read;
  }

  @Test
  void oneCoreDeniesNobodyTheAnswer() throws Exception {
    for (String path : List.of("report", "stats", "top", "edges", "stacks", "durations")) {
      boolean ofSessions = path.equals("durations") || path.equals("report");
      String of = "/" + path + (ofSessions ? "?sessions=sum&" : "?");
      JsonNode usual = json(of + "format=json");
      assertThat(usual.path("unit").asText()).as(path).isEqualTo("INSTRUCTIONS");
      assertThat(usual.path("otherUnits").toString()).as(path).isEqualTo("{\"NANOSECONDS\":1}");
      assertThat(json(of + "unit=instructions")).as(path).isEqualTo(usual);
      JsonNode other = json(of + "unit=nanoseconds");
      assertThat(other.path("unit").asText()).as(path).isEqualTo("NANOSECONDS");
      assertThat(other.path("otherUnits").path("INSTRUCTIONS").asInt()).as(path).isPositive();
      assertThat(ask.get(of + "format=text").body())
          .as(path)
          .contains("not in these figures: 1 core with times in nanoseconds (--unit nanoseconds)");
    }
    assertThat(json("/report?unit=nanoseconds").path("functions"))
        .extracting(row -> row.path("name").asText() + row.path("calls"))
        .containsExactlyInAnyOrder("leaf1", "main1");
    assertThat(json("/top?unit=nanoseconds").path("topCores"))
        .extracting(row -> row.path("core").asText())
        .containsExactly("other");
    assertThat(json("/report?core=other").path("unit").asText())
        .as("a core alone has its own unit")
        .isEqualTo("NANOSECONDS");
  }

  @Test
  void aUnitThatNobodyKnowsIsRefusedAtTheDoor() throws Exception {
    assertThat(json("/cores").path("cores"))
        .extracting(row -> row.path("core").asText())
        .contains("other")
        .doesNotContain("odd");
    assertThat(json("/stats").path("stats").toString()).contains(Stat.CORRUPT_CHUNKS.name());
    List<byte[]> letters = TopicReader.values(bench.kafka(), bench.topics().deadLetters());
    assertThat(letters).hasSize(1);
    assertThat(ConfluentFrame.decode(letters.getFirst(), DeadLetter.class).getReason())
        .contains("core odd", "clockUnit is not known to this version");
  }
}
