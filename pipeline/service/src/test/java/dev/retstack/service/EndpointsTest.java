package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.support.Columns;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.transfer.TraceProducer;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Numbers of a running member against those of a replay of the same chunks. */
class EndpointsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static Pipeline pipeline;
  private static HttpAsk ask;
  private static GraphState replayed;
  private static String session;

  @BeforeAll
  static void start() throws Exception {
    LiveBench bench = LiveBench.fresh();
    bench.produceAll();
    session = bench.fleet().getFirst().chunks().getFirst().getSession();
    CoreScript open =
        new CoreScript(CoreScript.image("open", "main", "walk", "leaf"), "other-session", "core-o")
            .enter("main")
            .tick(10)
            .enter("walk")
            .tick(5)
            .enter("leaf")
            .tick(7)
            .exit()
            .chunk();
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(open.image());
      for (var chunk : open.chunks()) {
        producer.chunk(chunk);
      }
      producer.flush();
    }
    List<CoreScript> all = new ArrayList<>(bench.fleet());
    all.add(open);
    replayed = States.of(all);
    pipeline = PipelineService.start(bench.config());
    bench.awaitEnded(pipeline);
    bench.awaitScrape(
        pipeline,
        page -> page.sum("retstack_state_records") == ReportBuilder.of(replayed).build().records());
    ask = new HttpAsk(pipeline.httpUri());
  }

  @AfterAll
  static void stop() {
    ask.close();
    pipeline.close();
  }

  private static JsonNode json(String path) throws Exception {
    HttpResponse<String> answer = ask.get(path);
    assertThat(answer.statusCode()).as(path + ": " + answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  @Test
  void edgesAreThoseOfTheReportPageByPage() throws Exception {
    List<EdgeRow> edges = ReportBuilder.of(replayed).build().edges();
    assertThat(json("/edges").path("edges"))
        .extracting(
            edge -> edge.path("caller").asText(),
            edge -> edge.path("callee").asText(),
            edge -> edge.path("calls").asLong(),
            edge -> edge.path("total").asLong())
        .containsExactlyElementsOf(
            edges.stream().map(e -> tuple(e.caller(), e.callee(), e.calls(), e.total())).toList());
    HttpResponse<String> page = ask.get("/edges?format=csv&limit=2&offset=1");
    assertThat(page.headers().firstValue("Retstack-Page"))
        .hasValue("offset=1; rows=2; of=" + edges.size());
    assertThat(page.body().lines()).hasSize(3);
  }

  @Test
  void theFirstFunctionsAreThoseOfTheReport() throws Exception {
    for (String sessions : List.of("apart", "sum")) {
      theFirstFunctionsAreThoseOfTheReport(sessions);
    }
    List<Long> calls = new ArrayList<>();
    json("/top").path("functions").forEach(row -> calls.add(row.path("calls").asLong()));
    assertThat(calls).isSortedAccordingTo(Comparator.reverseOrder()).hasSizeGreaterThan(3);
    assertThat(ask.get("/top?format=csv&sort=self").body()).startsWith("name,address,image,isa");
    assertThat(ask.get("/top?format=text").body()).contains("SELF-%").contains("core-o");
  }

  private static void theFirstFunctionsAreThoseOfTheReport(String sessions) throws Exception {
    JsonNode report = json("/report?sessions=" + sessions);
    JsonNode top = json("/top?sort=total&limit=3&sessions=" + sessions);
    assertThat(top.path("functions")).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(top.path("functions").get(i)).isEqualTo(report.path("functions").get(i));
    }
    for (String field : List.of("unit", "records", "lost", "untraced", "completeness", "stats")) {
      assertThat(top.path(field)).as(field).isEqualTo(report.path(field));
    }
    assertThat(top.path("functionCount").asInt()).isEqualTo(report.path("functions").size());
    assertThat(top.path("cores").path("RUNNING").asInt()).isEqualTo(1);
    assertThat(top.path("topCores").get(0).path("core").asText()).isEqualTo("core-o");
  }

  @Test
  void answersArePackedForThoseWhoTakeIt() throws Exception {
    HttpResponse<InputStream> packed = ask.open("/edges?format=csv", "Accept-Encoding", "gzip");
    assertThat(packed.headers().firstValue("content-encoding")).hasValue("gzip");
    HttpResponse<String> plain = ask.get("/edges?format=csv");
    assertThat(plain.headers().firstValue("content-encoding")).isEmpty();
    try (InputStream body = new GZIPInputStream(packed.body())) {
      assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(plain.body());
    }
  }

  @Test
  void openCallsSayForHowLong() throws Exception {
    JsonNode answer = json("/calls/open");
    assertThat(answer.path("open").asLong()).isEqualTo(2);
    assertThat(answer.path("calls"))
        .extracting(
            call -> call.path("core").asText(),
            call -> call.path("session").asText(),
            call -> call.path("function").asText(),
            call -> call.path("depth").asInt(),
            call -> call.path("enter").asLong(),
            call -> call.path("openFor").asLong())
        .containsExactly(
            tuple("core-o", "other-session", "main", 0, 0L, 22L),
            tuple("core-o", "other-session", "walk", 1, 10L, 12L));
    assertThat(ask.get("/calls/open?core=core-1&format=csv").body().lines()).hasSize(1);
    assertThat(ask.get("/calls/open?format=text").body()).contains("2 calls are open, 2 are shown");
  }

  @Test
  void theGraphOfATimeHasTheCallsOfThatTime() throws Exception {
    CallTree tree =
        ReportBuilder.of(replayed).trees().stream()
            .filter(t -> t.core().equals("core-1"))
            .findFirst()
            .orElseThrow();
    List<CallNode> all = new ArrayList<>(tree.roots());
    for (int i = 0; i < all.size(); i++) {
      all.addAll(all.get(i).children());
    }
    CallNode chosen = all.get(all.size() / 2);
    long from = chosen.enter();
    long to = chosen.exit() + 20;
    List<String> expected = new ArrayList<>();
    all.stream()
        .filter(call -> call.enter() <= to && call.exit() >= from)
        .forEach(call -> expected.add(call.function() + "@" + call.enter()));
    assertThat(expected.size()).isBetween(2, all.size() - 2);
    List<String> got = new ArrayList<>();
    flatten(json("/graph?core=core-1&from=" + from + "&to=" + to).get(0).path("calls"), got);
    assertThat(got).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(json("/graph?core=core-1&from=" + Long.MAX_VALUE).get(0).path("calls")).isEmpty();
  }

  @Test
  void oneTimelineHasAllCoresOfASessionAndWhatIsOpen() throws Exception {
    JsonNode all = json("/timeline?session=" + session + "&width=20&depth=5");
    List<String> names = all.path("cores").findValuesAsText("core");
    assertThat(names).hasSize(replayed.cores().size() - 1).doesNotHaveDuplicates();
    for (String name : names) {
      JsonNode one = json("/timeline?core=%s&width=20&depth=5".formatted(name));
      List<JsonNode> rows = new ArrayList<>();
      all.path("rows").forEach(row -> rows.add(row));
      rows.removeIf(row -> !row.path("core").asText().equals(name));
      assertThat(one.path("rows")).containsExactlyElementsOf(rows);
      assertThat(rows).hasSizeBetween(1, 20 * 5);
    }
    assertThat(json("/timeline?core=core-o&width=1&from=0&to=21").path("rows"))
        .extracting(row -> row.path("longest").asText(), row -> row.path("exit").asLong())
        .containsExactly(tuple("main", 22L), tuple("walk", 22L), tuple("leaf", 22L));
    JsonNode rows = all.path("rows");
    rows.forEach(row -> ((ObjectNode) row).remove("selfPc"));
    assertThat(rowsOf(json("/timeline?width=20&depth=5&as=columns&session=" + session)))
        .isEqualTo(rows);
    assertThat(ask.get("/timeline?width=4097").statusCode()).isEqualTo(400);
    assertThat(ask.get("/timeline?core=nobody").statusCode()).isEqualTo(404);
    assertThat(ask.get("/timeline?from=2&to=1").statusCode()).isEqualTo(400);
  }

  @Test
  void aSearchFindsTheCallsOfTheTrees() throws Exception {
    Map<String, List<Long>> enters = new TreeMap<>();
    for (CallTree tree : ReportBuilder.of(replayed).trees()) {
      if (tree.session().equals(session)) {
        List<CallNode> all = new ArrayList<>(tree.roots());
        for (int i = 0; i < all.size(); i++) {
          all.addAll(all.get(i).children());
        }
        all.stream()
            .filter(CallNode::isCall)
            .forEach(
                call ->
                    enters
                        .computeIfAbsent(call.function(), _ -> new ArrayList<>())
                        .add(call.enter()));
      }
    }
    assertThat(enters).isNotEmpty();
    for (Map.Entry<String, List<Long>> one : enters.entrySet()) {
      String of = "/hits?session=%s&match=%%5E%s%%24".formatted(session, one.getKey());
      List<Long> expected = one.getValue().stream().sorted().toList();
      JsonNode found = json(of);
      assertThat(found.path("calls").asLong()).isEqualTo(expected.size());
      assertThat(found.path("stretch").asLong()).isEqualTo(1);
      assertThat(found.path("hits").valueStream().map(hit -> hit.path("enter").asLong()).toList())
          .isSubsetOf(expected)
          .isSorted();
      JsonNode few = json(of + "&limit=3");
      assertThat(few.path("hits").size()).isBetween(1, Math.max(3, replayed.cores().size()));
      assertThat(few.path("hits").valueStream().mapToLong(hit -> hit.path("calls").asLong()).sum())
          .isEqualTo(expected.size());
      assertThat(few.path("hits").get(0).path("enter").asLong()).isEqualTo(expected.getFirst());
      long middle = expected.get(expected.size() / 2);
      assertThat(json(of + "&from=" + middle).path("calls").asLong())
          .isEqualTo(expected.stream().filter(enter -> enter >= middle).count());
    }
    assertThat(json("/hits?match=NOSUCH(&session=" + session).path("calls").asLong()).isZero();
    assertThat(json("/hits?session=" + session).path("calls").asLong())
        .isEqualTo(enters.values().stream().mapToLong(List::size).sum());
  }

  /** Rows of an answer that has them column by column, as a client makes them. */
  private static JsonNode rowsOf(JsonNode timeline) throws IOException {
    JsonNode columns = timeline.path("rows");
    ArrayNode rows = JsonNodeFactory.instance.arrayNode();
    for (JsonNode line : timeline.path("lines")) {
      for (int i = 0; i < line.path("rows").asInt(); i++) {
        rows.add(line.<ObjectNode>deepCopy().without("rows"));
      }
    }
    assertThat(rows).hasSize(columns.path("count").asInt());
    for (Map.Entry<String, JsonNode> column : columns.path("numbers").properties()) {
      List<JsonNode> values = Columns.values(column.getValue());
      for (int i = 0; i < rows.size(); i++) {
        set(rows.get(i), column.getKey(), values.get(i));
      }
    }
    for (Map.Entry<String, JsonNode> column : columns.path("words").properties()) {
      List<JsonNode> places = Columns.values(column.getValue());
      for (int i = 0; i < rows.size(); i++) {
        JsonNode place = places.get(i);
        set(
            rows.get(i),
            column.getKey(),
            place.isNull() ? place : columns.path("texts").get(place.asInt()));
      }
    }
    return JSON.readTree(rows.toString()); // whose numbers are as long as they must be
  }

  private static void set(JsonNode row, String field, JsonNode value) {
    if (!value.isNull()) {
      ((ObjectNode) row).set(field, value);
    }
  }

  private static void flatten(JsonNode calls, List<String> into) {
    for (JsonNode call : calls) {
      into.add(call.path("function").asText() + "@" + call.path("enter").asLong());
      flatten(call.path("children"), into);
    }
  }

  @Test
  void sessionsAndCompletenessAddUpToTheReport() throws Exception {
    JsonNode sessions = json("/sessions").path("sessions");
    assertThat(sessions)
        .extracting(s -> s.path("session").asText(), s -> s.path("running").asInt())
        .containsExactlyInAnyOrder(tuple(session, 0), tuple("other-session", 1));
    JsonNode complete = json("/completeness");
    assertThat(complete.path("records").asLong())
        .isEqualTo(ReportBuilder.of(replayed).build().records());
    assertThat(complete.path("lost").asLong()).isEqualTo(ReportBuilder.of(replayed).build().lost());
    assertThat(complete.path("untraced").asLong()).isPositive();
    assertThat(complete.path("untraced").asLong())
        .isEqualTo(ReportBuilder.of(replayed).build().untraced());
    assertThat(complete.path("completeness").asDouble())
        .isEqualTo(ReportBuilder.of(replayed).build().completeness());
    for (JsonNode rows : List.of(sessions, complete.path("byPartition"), complete.path("cores"))) {
      long records = 0;
      long untraced = 0;
      for (JsonNode row : rows) {
        records += row.path("records").asLong();
        untraced += row.path("untraced").asLong();
      }
      assertThat(records)
          .as(rows.toString())
          .isEqualTo(ReportBuilder.of(replayed).build().records());
      assertThat(untraced)
          .as(rows.toString())
          .isEqualTo(ReportBuilder.of(replayed).build().untraced());
    }
    assertThat(complete.path("cores")).hasSize(replayed.cores().size());
  }
}
