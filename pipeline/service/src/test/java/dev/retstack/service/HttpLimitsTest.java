package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pages, bounds, and events of the HTTP side of a member that really runs. */
class HttpLimitsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final LiveBench bench = LiveBench.fresh();

  @BeforeEach
  void produce() throws Exception {
    bench.produceAll();
  }

  @Test
  void pagesTogetherAreTheWholeAndSayWhereTheyStand() throws Exception {
    try (Pipeline pipeline = PipelineService.start(bench.config());
        HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      bench.awaitEnded(pipeline);
      for (String path : List.of("/anomalies?format=json", "/graph?format=json")) {
        JsonNode whole = JSON.readTree(ask.get(path).body());
        assertThat(whole.size()).isGreaterThan(2);
        List<JsonNode> rows = new ArrayList<>();
        for (int offset = 0; offset <= whole.size(); offset += 2) {
          HttpResponse<String> page = ask.get(path + "&limit=2&offset=" + offset);
          JsonNode part = JSON.readTree(page.body());
          assertThat(page.headers().firstValue("Retstack-Page"))
              .hasValue("offset=%d; rows=%d; of=%d".formatted(offset, part.size(), whole.size()));
          part.forEach(rows::add);
        }
        assertThat(rows).hasSize(whole.size()).containsExactlyElementsOf(whole);
      }
      assertThat(ask.get("/cores?limit=1&format=csv").body().lines()).hasSize(2);
      assertThat(JSON.readTree(ask.get("/cores?offset=4711").body()).path("cores")).isEmpty();
    }
  }

  @Test
  void nothingThatIsSentStopsTheMember() throws Exception {
    try (Pipeline pipeline = PipelineService.start(bench.config());
        HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      assertThat(ask.get("/graph?core=" + "x".repeat(5_000)).statusCode()).isEqualTo(414);
      assertThat(ask.get("/graph?core=%FF%FE%00").statusCode()).isBetween(400, 404);
      assertThat(ask.get("/report//").statusCode()).isEqualTo(404);
      assertThat(ask.get("/report/../../etc/passwd").statusCode()).isEqualTo(404);
      assertThat(ask.post("/report", "x".repeat(100_000)).statusCode()).isEqualTo(405);
      assertThat(ask.get("/anomalies/events", "Last-Event-ID", "0:999999").statusCode())
          .isEqualTo(400);
      assertThat(ask.get("/anomalies/events", "Last-Event-ID", "-1:x,,").statusCode())
          .isEqualTo(400);
      assertThat(ask.get("/health/live").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void eachAnomalyIsOneEventAndAStreamThatBrokeOffGoesOn() throws Exception {
    List<AnomalyRow> expected = ReportBuilder.of(States.of(bench.fleet())).anomalies();
    try (Pipeline pipeline = PipelineService.start(bench.config());
        HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      bench.awaitEnded(pipeline);
      String beginning = "0:0,1:0,2:0";
      List<JsonNode> events = new ArrayList<>();
      String id = read(ask, beginning, expected.size() / 2, events);
      read(ask, id, expected.size() - events.size(), events);

      assertThat(events)
          .extracting(
              event -> event.path("core").asText(),
              event -> event.path("kind").asText(),
              event -> event.path("time").asLong(),
              event -> event.path("message").asText(),
              event -> event.path("taskName").asText(),
              event -> event.path("caller").asText(),
              event -> event.path("cause").asText(),
              event -> event.path("cure").asText())
          .containsExactlyInAnyOrderElementsOf(
              expected.stream()
                  .map(
                      row ->
                          org.assertj.core.api.Assertions.tuple(
                              row.core(),
                              row.kind().name(),
                              row.time(),
                              row.message(),
                              row.taskName(),
                              row.caller(),
                              row.kind().cause(),
                              row.kind().cure()))
                  .toList());
    }
  }

  /** Reads so many events from there on, then goes away; returns the last id. */
  private static String read(HttpAsk ask, String from, int count, List<JsonNode> into)
      throws Exception {
    HttpResponse<InputStream> response = ask.open("/anomalies/events", "Last-Event-ID", from);
    assertThat(response.statusCode()).isEqualTo(200);
    String id = from;
    int seen = 0;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      while (seen < count) {
        String line = lines.readLine();
        if (line.startsWith("id: ")) {
          id = line.substring(4);
        } else if (line.startsWith("data: ")) {
          into.add(JSON.readTree(line.substring(6)));
          seen++;
        }
      }
    }
    return id;
  }

  @Test
  void moreFollowersThanAllowedAreToldToComeBack() throws Exception {
    HttpSettings one = HttpSettings.LOCAL.atOnce(1, 1);
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(one).build());
        HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      HttpResponse<InputStream> first = ask.open("/anomalies/events");
      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(first.body().read()).as("the stream runs").isEqualTo(':');
      HttpResponse<String> second = ask.get("/anomalies/events");
      assertThat(second.statusCode()).isEqualTo(429);
      assertThat(second.headers().firstValue("Retry-After")).isPresent();
      assertThat(second.body()).contains("1 followers at once already");
      first.body().close();
      // the place is free again once the member has seen that the first is gone
      bench.awaitScrape(
          pipeline,
          _ -> {
            try (InputStream body = ask.open("/anomalies/events").body()) {
              return body.read() == ':';
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          });
    }
  }

  /** All at the same time: none may slip past the others and be cut off later. */
  @Test
  void aRushOfFollowersIsAnsweredAndNeverCutOff() throws Exception {
    HttpSettings four = HttpSettings.LOCAL.atOnce(1, 4);
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(four).build());
        HttpAsk ask = new HttpAsk(pipeline.httpUri());
        ExecutorService rush = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HttpResponse<InputStream>>> asked = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        asked.add(rush.submit(() -> ask.open("/anomalies/events")));
      }
      List<HttpResponse<InputStream>> answers = new ArrayList<>();
      for (Future<HttpResponse<InputStream>> one : asked) {
        answers.add(one.get());
      }
      int followers = 0;
      for (HttpResponse<InputStream> answer : answers) {
        if (answer.statusCode() == 200) {
          followers++;
          assertThat(answer.body().read()).as("the stream runs").isEqualTo(':');
        } else {
          assertThat(answer.statusCode()).isEqualTo(429);
          assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
        }
      }
      assertThat(followers).isEqualTo(4);
      for (HttpResponse<InputStream> answer : answers) {
        answer.body().close();
      }
    }
  }

  @Test
  void statesThatAskTooMuchOfTheHeapAreMissingAndSaySo() throws Exception {
    LiveBench large = LiveBench.fresh();
    large.produceAll();
    HttpSettings little = HttpSettings.LOCAL.holding(4_000);
    try (Pipeline one = PipelineService.start(large.config().but().http(little).build());
        HttpAsk asked = new HttpAsk(one.httpUri())) {
      large.awaitEnded(one);
      for (int i = 0; i < 3; i++) { // what one question held, the next one may have again
        HttpResponse<String> answer = asked.get("/report");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(JSON.readTree(answer.body()).path("parts"))
            .anySatisfy(
                part ->
                    assertThat(part.path("missing").asText())
                        .contains("of 4000 that questions may hold at once", "more heap"));
        HttpResponse<String> top = asked.get("/top");
        assertThat(top.headers().firstValue("Retstack-Partitions").orElseThrow())
            .as("totals are small")
            .isEqualTo("owned=0,1,2; of=3");
      }
    }
  }

  @Test
  void settingsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> HttpSettings.LOCAL.atOnce(0, 1)).hasMessageContaining("0 queries");
    assertThatThrownBy(() -> HttpSettings.LOCAL.at("127.0.0.1", 70_000))
        .hasMessageContaining("0 to 65535");
  }
}
