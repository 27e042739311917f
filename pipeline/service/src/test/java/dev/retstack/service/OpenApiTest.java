package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The document at {@code /openapi.json} is valid, and the routes do what it says. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenApiTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String EVENTS = "/anomalies/events";

  /** Something that is really there, for parameters that are free texts and for places in paths. */
  private final Map<String, String> samples = new TreeMap<>();

  private Pipeline pipeline;
  private HttpAsk ask;
  private OpenAPI document;

  @BeforeAll
  void start() throws Exception {
    LiveBench bench = LiveBench.fresh();
    bench.produceAll();
    pipeline = PipelineService.start(bench.config());
    bench.awaitEnded(pipeline);
    ask = new HttpAsk(pipeline.httpUri());
    String text = ask.get("/openapi.json").body();
    SwaggerParseResult parsed = new OpenAPIV3Parser().readContents(text, null, null);
    assertThat(parsed.getMessages()).isEmpty();
    document = parsed.getOpenAPI();
    samples.put("core", "core-1");
    samples.put("session", bench.fleet().getFirst().chunks().getFirst().getSession());
    samples.put("kind", "FRAME_POINTER_MISMATCH");
    samples.put("function", "main");
    samples.put("match", "ma.n");
    samples.put("in", "0");
    samples.put("task", "0");
    samples.put("subject", bench.topics().anomalies() + "-value");
    JsonNode latest =
        JSON.readTree(ask.get("/subjects/" + samples.get("subject") + "/versions/latest").body());
    samples.put("file", "app.js");
    String version = ask.get("/").headers().firstValue("ETag").orElseThrow();
    samples.put("version", version.replace("\"", ""));
    samples.put("id", latest.path("id").asText());
  }

  @AfterAll
  void stop() throws Exception {
    ask.close();
    pipeline.stop().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  void itIsOpenApi31AndNamesEveryPathThatIsThere() throws Exception {
    assertThat(document.getOpenapi()).isEqualTo("3.1.0");
    assertThat(document.getPaths().keySet())
        .contains("/report", "/graph", "/anomalies", EVENTS, "/cores", "/stats", "/metrics")
        .contains("/health/live", "/health/ready", "/openapi.json", "/schemas/ids/{id}");
    HttpResponse<String> nothing = ask.get("/nothing");
    assertThat(nothing.statusCode()).isEqualTo(404);
    String cure = JSON.readTree(nothing.body()).path("cure").asText();
    assertThat(cure.replace("use ", "").split(" ", -1))
        .containsExactlyInAnyOrderElementsOf(document.getPaths().keySet());
  }

  @Test
  void everyPathAnswersAsDescribed() throws Exception {
    for (String path : document.getPaths().keySet()) {
      check(path, filled(path));
    }
  }

  @Test
  void everyParameterAnswersInAllItsValuesAndRefusesOthers() throws Exception {
    for (String path : document.getPaths().keySet()) {
      for (Parameter parameter : parameters(path, "query")) {
        for (String value : values(parameter)) {
          check(
              path, filled(path) + "?" + parameter.getName() + "=" + value + time(path, parameter));
        }
        for (String value : wrong(parameter)) {
          refused(filled(path) + "?" + parameter.getName() + "=" + value, parameter.getName());
        }
      }
    }
  }

  @Test
  void parametersThatAreNotThereAreRefusedByName() throws Exception {
    for (String path : List.of("/report", "/graph", "/anomalies", EVENTS, "/cores", "/stats")) {
      refused(path + "?fromat=json", "fromat");
    }
  }

  @Test
  void whatIsNotFoundIs404() throws Exception {
    for (String path :
        List.of("/graph?core=nobody", "/schemas/ids/1", "/subjects/none/versions/latest")) {
      assertThat(ask.get(path).statusCode()).as(path).isEqualTo(404);
    }
  }

  /** The answer to a good question: 200, a described content type, and the fields that must be. */
  private void check(String path, String asked) throws Exception {
    Map<String, MediaType> content = operation(path).getResponses().get("200").getContent();
    Set<String> types = content.keySet();
    if (path.equals(EVENTS)) {
      try (InputStream body = events(asked)) {
        assertThat(body.read()).isPositive();
      }
      return;
    }
    HttpResponse<String> response = ask.get(asked);
    assertThat(response.statusCode()).as(asked + ": " + response.body()).isEqualTo(200);
    String type = response.headers().firstValue("content-type").orElseThrow().split(";", 2)[0];
    assertThat(types.stream().map(name -> name.split(";", 2)[0])).as(asked).contains(type);
    if (type.endsWith("json")) {
      required(asked, content.get(type).getSchema(), JSON.readTree(response.body()));
    }
  }

  private InputStream events(String asked) throws Exception {
    HttpResponse<InputStream> response = ask.open(asked);
    assertThat(response.statusCode()).as(asked).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type").orElseThrow())
        .startsWith("text/event-stream");
    return response.body();
  }

  private static void required(String asked, Schema<?> schema, JsonNode json) {
    if (json.isArray()) {
      assertThat(schema.getTypes()).as(asked).contains("array");
      if (schema.getItems() != null && !json.isEmpty()) {
        required(asked, schema.getItems(), json.get(0));
      }
      return;
    }
    if (json.isObject()) {
      assertThat(schema.getTypes()).as(asked).contains("object");
      assertThat(json.fieldNames()).toIterable().as(asked).containsAll(schema.getRequired());
    }
  }

  private void refused(String asked, String named) throws Exception {
    HttpResponse<String> response = ask.get(asked);
    assertThat(response.statusCode()).as(asked + ": " + response.body()).isEqualTo(400);
    JsonNode error = JSON.readTree(response.body());
    assertThat(error.path("error").asText()).as(asked).contains(named);
    assertThat(error.path("cure").asText()).as(asked).isNotBlank();
  }

  private List<String> values(Parameter parameter) {
    Schema<?> schema = parameter.getSchema();
    if (schema.getEnum() != null) {
      return schema.getEnum().stream().map(String::valueOf).toList();
    }
    if (schema.getMinimum() != null) {
      return List.of(schema.getMinimum().toString(), schema.getMaximum().toString());
    }
    assertThat(samples).as("a sample of " + parameter.getName()).containsKey(parameter.getName());
    return List.of(samples.get(parameter.getName()));
  }

  /** What a parameter means something with. */
  private static String time(String path, Parameter parameter) {
    boolean needs =
        parameter.getName().equals("window")
            || (path.equals("/anomalies") && parameter.getName().equals("session"));
    return needs ? "&at=5" : "";
  }

  private static List<String> wrong(Parameter parameter) {
    Schema<?> schema = parameter.getSchema();
    if (schema.getEnum() != null) {
      return List.of("xml", "");
    }
    if (schema.getMinimum() != null) {
      return List.of("x", "", "-1", "99999999999999999999", "1.5");
    }
    return List.of("y".repeat(schema.getMaxLength() + 1));
  }

  private String filled(String path) {
    String filled = path;
    for (Parameter place : parameters(path, "path")) {
      filled = filled.replace("{" + place.getName() + "}", samples.get(place.getName()));
    }
    assertThat(filled).doesNotContain("{");
    return filled;
  }

  private List<Parameter> parameters(String path, String in) {
    List<Parameter> all = operation(path).getParameters();
    return all == null ? List.of() : all.stream().filter(p -> p.getIn().equals(in)).toList();
  }

  private Operation operation(String path) {
    Operation operation = document.getPaths().get(path).getGet();
    ApiResponse bad = operation.getResponses().get("400");
    assertThat(bad.getContent()).as(path).containsOnlyKeys("application/json");
    return operation;
  }
}
