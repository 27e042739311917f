package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.schema.Image;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.TraceProducer;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A job finds a function by any name that its image has for it, behind a restart too. */
class OtherNamesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));
  private static final Image IMAGE =
      Image.newBuilder(CoreScript.image("named", "main", "one", "two"))
          .setOtherNames(
              List.of(new OtherName(1, "eins"), new OtherName(1, "uno"), new OtherName(2, "due")))
          .build();

  private final LiveBench bench = LiveBench.fresh();

  private static CoreScript core(String session, String name) {
    CoreScript core = new CoreScript(IMAGE, session, name);
    return core.enter("main")
        .enter("one")
        .tick(10)
        .enter("two")
        .tick(3)
        .exit(8)
        .exit()
        .enter("one")
        .tick(4)
        .exit()
        .exit()
        .end();
  }

  @Test
  void eachNameFindsTheFunction() throws Exception {
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(IMAGE);
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        run(pipeline, producer, core("session", "before"));
        asked(pipeline, "before");
        bench.awaitRest(pipeline);
        WAITS.await(pipeline.stop());
      }
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        run(pipeline, producer, core("session", "behind"));
        asked(pipeline, "before"); // restored: its chunks are not read again
        asked(pipeline, "behind");
        WAITS.await(pipeline.stop());
      }
    }
  }

  /** An image with too many other names, or with some of no function, is refused and counted. */
  @Test
  void hostileNamesAreRefused() throws Exception {
    OtherName one = new OtherName(1, "eins");
    List<List<OtherName>> hostile =
        List.of(
            Collections.nCopies(FunctionName.OTHERS_MAX + 1, one),
            List.of(new OtherName(3, "none")),
            List.of(new OtherName(-1, "none")),
            List.of(new OtherName(1, "n".repeat(300_000))));
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics());
        Pipeline pipeline = PipelineService.start(bench.config())) {
      for (int i = 0; i < hostile.size(); i++) {
        producer.image(
            Image.newBuilder(IMAGE)
                .setBuildId("hostile-" + i)
                .setOtherNames(hostile.get(i))
                .build());
      }
      producer.image(IMAGE);
      run(pipeline, producer, core("session", "good"));
      asked(pipeline, "good");
      WAITS.await(
          "refusals",
          () -> {
            Scraped page = bench.scrape(pipeline);
            return page.sum("retstack_images_refused_total") == hostile.size();
          });
    }
  }

  private static void run(Pipeline pipeline, TraceProducer producer, CoreScript core)
      throws Exception {
    for (var chunk : core.chunks()) {
      producer.chunk(chunk);
    }
    producer.flush();
    WAITS.await(pipeline.awaitCoresEnded(Set.of(ChunkApplier.key(core.chunks().getFirst()))));
  }

  private static void asked(Pipeline pipeline, String core) throws Exception {
    try (HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      for (String window : List.of("", "&from=0&to=1000000")) {
        String of = "?core=" + core + window;
        JsonNode durations = json(ask, "/durations" + of + "&function=one");
        assertThat(durations.path("calls").asInt()).isEqualTo(2);
        assertThat(durations.path("otherNames").toString())
            .isEqualTo("{\"one\":[\"eins\",\"uno\"]}");
        JsonNode stacks = json(ask, "/stacks" + of + "&function=one");
        assertThat(stacks.path("stacks").path("texts").toString()).contains("one", "two");
        assertThat(stacks.path("otherNames").toString())
            .isEqualTo("{\"one\":[\"eins\",\"uno\"],\"two\":[\"due\"]}");
        for (String name : List.of("eins", "uno")) {
          assertThat(json(ask, "/durations" + of + "&function=" + name)).isEqualTo(durations);
          assertThat(json(ask, "/stacks" + of + "&function=" + name)).isEqualTo(stacks);
        }
        assertThat(ask.get("/durations" + of + "&function=uno&format=text").body())
            .contains("# 2 calls of one (also named eins, uno) with a known end");
        HttpResponse<String> none = ask.get("/durations" + of + "&function=unos");
        assertThat(none.statusCode()).isEqualTo(404);
        assertThat(none.body()).contains("no call of function unos", "did you mean uno?");
        JsonNode report = json(ask, "/report" + of);
        assertThat(report.path("otherNames")).isEqualTo(stacks.path("otherNames"));
        assertThat(report.path("functions").findValuesAsText("name"))
            .containsExactlyInAnyOrder("main", "one", "two");
      }
      JsonNode hits = json(ask, "/hits?core=" + core + "&match=one");
      assertThat(hits.path("calls").asInt()).isEqualTo(2);
      assertThat(json(ask, "/hits?core=" + core + "&match=%5EUNO$")).isEqualTo(hits);
      assertThat(json(ask, "/hits?core=" + core + "&match=un").path("hits")).hasSize(2);
      JsonNode timeline = json(ask, "/timeline?core=" + core);
      assertThat(timeline.path("otherNames").path("one").toString())
          .isEqualTo("[\"eins\",\"uno\"]");
      assertThat(json(ask, "/anomalies?core=" + core))
          .singleElement()
          .satisfies(
              row -> {
                assertThat(row.path("function").asText()).startsWith("two");
                assertThat(row.path("otherNames").toString()).isEqualTo("[\"due\"]");
              });
    }
  }

  private static JsonNode json(HttpAsk ask, String path) throws Exception {
    HttpResponse<String> answer = ask.get(path);
    assertThat(answer.statusCode()).as(path + ": " + answer.body()).isEqualTo(200);
    JsonNode read = JSON.readTree(answer.body());
    if (read instanceof com.fasterxml.jackson.databind.node.ObjectNode object) {
      object.remove(List.of("parts", "positions", "partitions")); // they have ages
    }
    return read;
  }
}
