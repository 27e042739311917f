package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.cli.Ran;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineService;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands over HTTP to a fleet that runs: who may give them, and what each core answers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
@Order(1)
class ControlHttpTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PREFIX = "control-http";
  private static final String GIVE = "/control/commands";
  private static final String STATUS = "{\"name\":\"status\"}";

  private CommandedFleet fleet;
  private URI http;
  private String token;

  /** What was answered. */
  private record Said(int status, String head, String body) {
    JsonNode json() throws Exception {
      return JSON.readTree(body);
    }

    /** Fact and cure. */
    String refusal() throws Exception {
      assertThat(json().path("cure").asText()).as(body).isNotBlank();
      return json().path("error").asText() + "; " + json().path("cure").asText();
    }

    List<JsonNode> events() throws Exception {
      List<JsonNode> events = new ArrayList<>();
      for (String block : body.split("\n\n", -1)) {
        StringBuilder data = new StringBuilder();
        block
            .lines()
            .filter(line -> line.startsWith("data: "))
            .forEach(x -> data.append(x, 6, x.length()));
        if (!data.isEmpty()) {
          events.add(JSON.readTree(data.toString()));
        }
      }
      return events;
    }
  }

  @BeforeAll
  void aFleetAndAMember(@TempDir Path dir) throws Exception {
    fleet = new CommandedFleet(dir, PREFIX);
    http = fleet.pipeline().httpUri();
    token = ask(http, "GET", "/control", "", Map.of()).json().path("token").asText();
    assertThat(token).hasSizeGreaterThan(40);
  }

  @AfterAll
  void stop() {
    if (fleet != null) {
      fleet.close();
    }
  }

  /** Asks with headers that no Java client would send, such as Origin or Host. */
  private static Said ask(
      URI server, String method, String path, String body, Map<String, String> headers)
      throws Exception {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    Map<String, String> all = new LinkedHashMap<>();
    all.put("Host", server.getAuthority());
    all.put("Connection", "close");
    if (!method.equals("GET")) {
      all.put("Content-Length", "" + bytes.length);
    }
    all.putAll(headers);
    all.values().removeIf(String::isEmpty);
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    try (Socket socket = new Socket(server.getHost(), server.getPort());
        OutputStream out = socket.getOutputStream();
        InputStream in = socket.getInputStream()) {
      out.write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
      out.write(bytes);
      out.flush();
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      int end = text.indexOf("\r\n\r\n");
      String answered = text.substring(0, end);
      String rest = text.substring(end + 4);
      boolean chunked = answered.toLowerCase(Locale.ROOT).contains("transfer-encoding: chunked");
      return new Said(
          Integer.parseInt(text.split(" ", 3)[1]), answered, chunked ? unchunked(rest) : rest);
    }
  }

  private static String unchunked(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    StringBuilder whole = new StringBuilder();
    int at = 0;
    while (at < bytes.length) {
      int line = at;
      while (bytes[line] != '\r') {
        line++;
      }
      int length = Integer.parseInt(new String(bytes, at, line - at, StandardCharsets.UTF_8), 16);
      if (length == 0) {
        break;
      }
      whole.append(new String(bytes, line + 2, length, StandardCharsets.UTF_8));
      at = line + 2 + length + 2;
    }
    return whole.toString();
  }

  /** Headers of a page of this member. */
  private Map<String, String> page() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Origin", "http://" + http.getAuthority());
    headers.put("Sec-Fetch-Site", "same-origin");
    headers.put("Retstack-Page-Token", token);
    headers.put("Content-Type", "application/json");
    return headers;
  }

  private Said give(String body, String... changed) throws Exception {
    Map<String, String> headers = page();
    for (int i = 0; i < changed.length; i += 2) {
      headers.put(changed[i], changed[i + 1]);
    }
    return ask(http, "POST", GIVE, body, headers);
  }

  private static String command(String name, String target, String... arguments) {
    ObjectNode command = JSON.createObjectNode().put("name", name).put("target", target);
    for (String argument : arguments) {
      command.withArray("arguments").add(argument);
    }
    return command.toString();
  }

  private JsonNode preview(String command, String target, String... arguments) throws Exception {
    String query =
        "?command=%s&target=%s&arguments=%s"
            .formatted(command, encoded(target), encoded(String.join("\n", arguments)));
    return ask(http, "GET", "/control/preview" + query, "", Map.of()).json();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Test
  void eachCoreAnswersAndItIsInTheLog() throws Exception {
    JsonNode before = preview("set-filter", "isa=riscv64", "w200_00?", "run_w200");
    assertThat(before.path("cores").asInt()).as(before.toString()).isEqualTo(1);
    assertThat(before.path("running").asInt()).isEqualTo(3);
    assertThat(before.path("rows").findValuesAsText("functions")).containsExactly("10", "1", "11");
    assertThat(before.path("rows").get(0).path("imageName").asText())
        .isEqualTo("zoo-riscv64-mcount.elf");
    assertThat(before.path("rows").get(0).path("examples").get(0).asText()).startsWith("w200_00");

    Said given =
        ask(
            http,
            "POST",
            GIVE,
            "{\"name\":\"set-filter\",\"arguments\":[\"w200_00?\",\"run_w200\"],"
                + "\"target\":\"isa=riscv64\",\"issuer\":\"the test\"}",
            page());
    assertThat(given.status()).as(given.body()).isEqualTo(200);
    assertThat(given.head()).containsIgnoringCase("content-type: text/event-stream");
    List<JsonNode> events = given.events();
    assertThat(events.getFirst().path("kind").asText()).isEqualTo("sent");
    assertThat(events.getLast().path("kind").asText()).isEqualTo("done");
    assertThat(events.getLast().path("allApplied").asBoolean()).isTrue();
    List<JsonNode> answers = new ArrayList<>();
    events.forEach(event -> event.path("answers").forEach(answers::add));
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst().path("core").asText()).isEqualTo("zoo-riscv64-mcount");
    assertThat(answers.getFirst().path("status").asText()).isEqualTo("applied");
    assertThat(answers.getFirst().path("sites"))
        .isEqualTo(before.path("rows").get(2).path("functions"));
    assertThat(answers.getFirst().path("sitesAll"))
        .isEqualTo(before.path("rows").get(2).path("functionsAll"));

    JsonNode log = ask(http, "GET", "/control/log?limit=1", "", Map.of()).json();
    assertThat(log.path("allCommands").asBoolean()).as("there were others before").isFalse();
    JsonNode row = log.path("commands").get(0);
    assertThat(row.path("id")).isEqualTo(events.getFirst().path("id"));
    assertThat(row.path("issuer").asText()).isEqualTo("the test (http)");
    assertThat(row.path("applied").asInt()).isEqualTo(1);
    Ran cli = fleet.trace("log", "--format", "csv");
    assertThat(cli.out()).contains("the test (http),isa=riscv64,set-filter w200_00? run_w200,1,0,");
    JsonNode cores = ask(http, "GET", "/control", "", Map.of()).json().path("cores");
    assertThat(cores)
        .anyMatch(
            core ->
                core.path("core").asText().equals("zoo-riscv64-mcount")
                    && core.path("settings").toString().contains("set-filter w200_00? run_w200"));
  }

  @Test
  void previewsCountWhatTheFleetWillAnswer() throws Exception {
    JsonNode trigger = preview("set-trigger", "all", "w200_01?:stacktrace:3");
    assertThat(trigger.path("rows")).hasSize(3);
    assertThat(trigger.path("rows").findValuesAsText("functions")).containsOnly("10");
    JsonNode filter = preview("set-graph-function", "all", "/^w200_1[0-3]/", "sort_*");
    assertThat(filter.path("rows")).as("each alone, and both together, of three").hasSize(9);
    assertThat(filter.path("rows").findValuesAsText("functionsAll")).containsOnly("356");
    assertThat(preview("set-filter", "isa=vax", "main").path("cores").asInt()).isZero();
    assertThat(preview("set-filter", "all", "no_such").path("rows").findValuesAsText("functions"))
        .containsOnly("0");
    JsonNode section = preview("set-filter", "label.isa=riscv64", "section:.text");
    assertThat(section.path("ignoresLabels").asBoolean()).isTrue();
    assertThat(section.path("rows").findValuesAsText("functions")).containsOnly("-1");
    assertThat(preview("status", "all").path("rows")).isEmpty();
    assertThat(preview("set-filter", "all", "/(/").path("error").asText())
        .contains("no regular expression");
    assertThat(preview("no-such", "all").path("error").asText()).contains("no such command");
    assertThat(preview("set-filter", "nobody", "a").path("error").asText()).contains("no target");
  }

  @Test
  void whatAFleetRefusesIsAnAnswer() throws Exception {
    List<JsonNode> nobody = give(command("off", "isa=vax")).events();
    assertThat(nobody.getLast().path("refusals").toString())
        .contains("target 'isa=vax' selects none of 3 cores");
    Said unknown = give(command("set-filter", "isa=s390x", "w200_01x"));
    assertThat(unknown.body()).contains("refused").contains("did you mean w200_01");
    assertThat(unknown.events().getLast().path("allApplied").asBoolean()).isFalse();
  }

  @Test
  void onlyAPageOfThisServerCommands() throws Exception {
    String own = "http://" + http.getAuthority();
    refused(403, give(STATUS, "Origin", ""), "without the header Origin", own);
    refused(403, give(STATUS, "Origin", "http://evil.example"), "evil.example", own);
    refused(403, give(STATUS, "Origin", "null"), "origin", own);
    refused(403, give(STATUS, "Origin", "https://" + http.getAuthority()), "https://", own);
    refused(403, give(STATUS, "Origin", "http://127.0.0.1:1"), "127.0.0.1:1", own);
    refused(403, give(STATUS, "Sec-Fetch-Site", "cross-site"), "cross-site", "same-origin");
    refused(403, give(STATUS, "Sec-Fetch-Site", "same-site"), "same-site", "same-origin");
    refused(403, give(STATUS, "Retstack-Page-Token", ""), "no token", "GET /control");
    refused(403, give(STATUS, "Retstack-Page-Token", "x" + token), "not the token", "GET /control");
    refused(415, give(STATUS, "Content-Type", "text/plain"), "text/plain", "application/json");
    refused(
        421,
        give(STATUS, "Host", "evil.example", "Origin", "http://evil.example"),
        "another host",
        "localhost");
    refused(405, ask(http, "GET", GIVE, "", Map.of()), "not allowed", "POST");
    refused(405, ask(http, "POST", "/control/log", STATUS, page()), "not allowed", "GET");
    assertThat(give(STATUS, "Sec-Fetch-Site", "").status())
        .as("older browsers do not send it")
        .isEqualTo(200);
    assertThat(ask(http, "OPTIONS", GIVE, "", page()).head())
        .as("no other origin is let in")
        .doesNotContainIgnoringCase("access-control");
  }

  private static void refused(int status, Said said, String... words) throws Exception {
    assertThat(said.status()).as(said.body()).isEqualTo(status);
    assertThat(said.refusal()).contains(words);
    assertThat(said.head()).doesNotContainIgnoringCase("access-control");
  }

  @Test
  void hostileBodiesAreRefused() throws Exception {
    for (String body :
        List.of(
            "",
            "{",
            "null",
            "[]",
            "\"status\"",
            "{\"name\":\"status\"} {}",
            "{\"name\":\"status\",\"name\":\"off\"}",
            "{\"name\":7}",
            "{\"name\":\"status\",\"more\":1}",
            "{\"name\":\"status\",\"arguments\":\"x\"}",
            "{\"name\":\"set-filter\",\"arguments\":[1]}",
            "{\"name\":\"set-filter\",\"arguments\":[[\"a\"]]}",
            "{\"name\":\"status\",\"deadlineMs\":0}",
            "{\"name\":\"status\",\"deadlineMs\":1e99}",
            "{\"name\":\"status\",\"deadlineMs\":60000}",
            "{\"name\":\"status\",\"issuer\":\"" + "x".repeat(101) + "\"}",
            "{\"name\":\"status\",\"target\":\"nobody\"}",
            "{\"name\":\"no-such\"}",
            "{\"name\":\"set-max-depth\",\"arguments\":[\"-1\"]}",
            "{\"name\":" + "[".repeat(20_000),
            "{\"name\":\"set-filter\",\"arguments\":[\"" + "x".repeat(3_000) + "\"]}")) {
      Said said = give(body);
      assertThat(said.status()).as(body + ": " + said.body()).isEqualTo(400);
      assertThat(said.refusal()).isNotBlank();
      assertThat(said.body().length()).as("a refusal is short").isLessThan(3_000);
    }
    refused(413, give("x".repeat(65_537)), "65,536");
    assertThat(give(STATUS).status()).as("it continues").isEqualTo(200);
  }

  @Test
  void aMemberThatWasNotToldTakesNoCommands() throws Exception {
    try (Pipeline reader =
        PipelineService.start(fleet.member("reader", HttpSettings.LOCAL, false))) {
      URI server = reader.httpUri();
      Map<String, String> headers = page();
      headers.put("Origin", "http://" + server.getAuthority());
      refused(
          403,
          ask(server, "POST", GIVE, STATUS, headers),
          "was started without --commands",
          "retstack trace");
      JsonNode about = ask(server, "GET", "/control", "", Map.of()).json();
      assertThat(about.path("allowed").asBoolean()).isFalse();
      assertThat(about.path("token").asText()).isEmpty();
      assertThat(about.path("cores")).as("it reads").isNotEmpty();
      assertThat(ask(server, "GET", "/control/log", "", Map.of()).status()).isEqualTo(200);
    }
  }

  /** Commands that no fleet answers last until their deadline. */
  @Test
  void moreCommandsThanAllowedAreToldToComeBack() throws Exception {
    String lasting = "{\"name\":\"status\",\"deadlineMs\":3000}";
    try (Pipeline alone =
        PipelineService.start(
            fleet
                .member("alone", HttpSettings.LOCAL, true)
                .but()
                .topics(new Topics("control-alone"))
                .build())) {
      URI server = alone.httpUri();
      Map<String, String> headers = page();
      headers.put("Origin", "http://" + server.getAuthority());
      headers.put(
          "Retstack-Page-Token",
          ask(server, "GET", "/control", "", Map.of()).json().path("token").asText());
      try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Said>> asked = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          asked.add(clients.submit(() -> ask(server, "POST", GIVE, lasting, headers)));
        }
        List<Said> said = new ArrayList<>();
        for (Future<Said> one : asked) {
          said.add(one.get());
        }
        assertThat(said).extracting(Said::status).containsOnlyOnce(429);
        for (Said one : said) {
          if (one.status() == 429) {
            refused(429, one, "4 commands at once already", "again");
            assertThat(one.head()).containsIgnoringCase("retry-after");
          } else {
            assertThat(one.status()).isEqualTo(200);
            assertThat(one.events().getLast().path("fleets").asInt()).isZero();
          }
        }
      }
      assertThat(ask(server, "POST", GIVE, lasting, headers).status())
          .as("there is room again")
          .isEqualTo(200);
    }
  }

  @Test
  void aTokenOfTheServerIsNeededToo(@TempDir Path dir) throws Exception {
    String secret = "a-token-of-the-control-test";
    HttpToken shown = HttpToken.read(Files.writeString(dir.resolve("token"), secret));
    try (Pipeline guarded =
        PipelineService.start(fleet.member("guarded", HttpSettings.LOCAL.token(shown), true))) {
      URI server = guarded.httpUri();
      refused(401, ask(server, "GET", "/control", "", Map.of()), "no token");
      Map<String, String> bearer = Map.of("Authorization", "Bearer " + secret);
      String mine = ask(server, "GET", "/control", "", bearer).json().path("token").asText();
      assertThat(mine).as("each start has another").isNotEqualTo(token);
      Map<String, String> headers = page();
      headers.put("Origin", "http://" + server.getAuthority());
      headers.put("Retstack-Page-Token", mine);
      refused(401, ask(server, "POST", GIVE, STATUS, headers), "no token");
      headers.putAll(bearer);
      assertThat(ask(server, "POST", GIVE, STATUS, headers).status()).isEqualTo(200);
    }
  }

  @Test
  void theDocumentDescribesCommands() throws Exception {
    JsonNode paths = ask(http, "GET", "/openapi.json", "", Map.of()).json().path("paths");
    JsonNode given = paths.path(GIVE).path("post");
    assertThat(given.path("requestBody").path("content").has("application/json")).isTrue();
    assertThat(given.path("parameters").findValuesAsText("name")).contains("Retstack-Page-Token");
    assertThat(given.path("responses").fieldNames())
        .toIterable()
        .contains("200", "400", "403", "413", "415");
    for (String path : List.of("/control", "/control/log", "/control/preview")) {
      JsonNode get = paths.path(path).path("get");
      JsonNode required =
          get.path("responses")
              .path("200")
              .path("content")
              .path("application/json")
              .path("schema")
              .path("required");
      String asked = path.endsWith("preview") ? path + "?command=status" : path;
      JsonNode said = ask(http, "GET", asked, "", Map.of()).json();
      assertThat(required).as(path).isNotEmpty().allMatch(field -> said.has(field.asText()));
    }
  }
}
