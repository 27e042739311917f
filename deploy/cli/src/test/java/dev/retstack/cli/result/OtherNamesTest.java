package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.NamedProgram;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.input.LateSymbols;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each name that stands at an address is that of the function, wherever a user writes it. */
@Timeout(240)
class OtherNamesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private static Path dir;
  private static String program;
  private static String trace;

  @BeforeAll
  static void itIsRecorded() throws Exception {
    program = NamedProgram.build(dir).toString();
    trace = record(program, "t.avro");
  }

  private static String record(String program, String file, String... more) {
    String trace = dir.resolve(file).toString();
    List<String> line = new ArrayList<>(List.of("record", "--image", program, "-o", trace));
    line.addAll(List.of(more));
    assertThat(Ran.well(line.toArray(String[]::new)).err()).doesNotContain("no function");
    return trace;
  }

  private static JsonNode durations(String trace, String function) throws Exception {
    return JSON.readTree(
        Ran.well("graph", trace, "--durations", "--function", function, "--format", "json").out());
  }

  @ParameterizedTest
  @CsvSource({
    "one, uno, 4",
    "strong, frail, 1",
    "_ZN5ThingC1Ei, _ZN5ThingC2Ei, 1",
  })
  void eachFindsItsCallsInATrace(String shown, String other, int calls) throws Exception {
    JsonNode own = durations(trace, shown);
    assertThat(own.path("calls").asInt()).isEqualTo(calls);
    assertThat(own.path("function").asText()).isEqualTo(shown);
    assertThat(durations(trace, other)).isEqualTo(own);
    assertThat(Ran.well("graph", trace, "--durations", "--function", other).out())
        .contains("of %s (also named %s) with a known end".formatted(shown, other));
    assertThat(Ran.well("graph", trace).out()).contains(shown + "()").doesNotContain(other);
    assertThat(Ran.well("sites", program, "--function", other).out())
        .isEqualTo(Ran.well("sites", program, "--function", shown).out())
        .contains(shown);
    String filtered = record(program, "filtered.avro", "--filter", other);
    assertThat(durations(filtered, "").path("calls").asInt()).isEqualTo(calls);
  }

  @Test
  void aNameThatIsNearOneOfThemIsOffered() {
    Ran ran = Ran.retstack("graph", trace, "--durations", "--function", "frial");
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains("no call of function frial", "did you mean frail?");
  }

  @Test
  void eachFindsItsFunctionOverHttp() throws Exception {
    try (TraceServer server =
            TraceServer.start(Path.of(trace), LateSymbols.NONE, HttpSettings.LOCAL);
        HttpClient http = HttpClient.newHttpClient()) {
      for (String question :
          List.of("durations?function=%s", "stacks?function=%s", "hits?match=^%s$")) {
        String own = answer(http, server, question.formatted("one"));
        assertThat(answer(http, server, question.formatted("uno"))).isEqualTo(own).contains("one");
      }
      JsonNode report = JSON.readTree(answer(http, server, "report"));
      assertThat(report.path("otherNames").path("one").toString()).isEqualTo("[\"uno\"]");
      assertThat(report.path("otherNames").path("_ZN5ThingC1Ei").toString())
          .isEqualTo("[\"_ZN5ThingC2Ei\"]");
    }
  }

  private static String answer(HttpClient http, TraceServer server, String question)
      throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(server.uri().resolve("/" + question.replace("^", "%5E")))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  /** Names that come late, from the file before strip, are all of its names. */
  @Test
  void eachComesWithTheSymbolsOfAStrippedProgram() throws Exception {
    assumeTrue(NamedProgram.isThere("strip"), "skipped: no strip");
    String stripped = dir.resolve("stripped").toString();
    NamedProgram.run(
        List.of("strip", "-s", "-K", "main", "-K", "__fentry__", "-o", stripped, program));
    String nameless = record(stripped, "stripped.avro");
    String[] line = {"graph", nameless, "--symbols", program, "--durations", "--function", "uno"};
    assertThat(Ran.well(line).out()).contains("# 4 calls of one (also named uno)");
  }

  @ParameterizedTest
  @CsvSource({"gold", "lld"})
  void aFoldedFunctionIsFoundByTheNamesOfAll(String linker) throws Exception {
    assumeTrue(NamedProgram.isThere("ld." + linker), "skipped: no ld." + linker);
    Path folder = Files.createDirectory(dir.resolve(linker));
    String folded = NamedProgram.build(folder, "-fuse-ld=" + linker, "-Wl,--icf=all").toString();
    String ofIt = record(folded, "folded.avro");
    assertThat(durations(ofIt, "red")).isEqualTo(durations(ofIt, "green"));
    assertThat(durations(ofIt, "green").path("calls").asInt()).isEqualTo(2);
    String filtered = record(folded, "folded-filtered.avro", "--filter", "green");
    assertThat(durations(filtered, "red").path("calls").asInt()).isEqualTo(2);
  }
}
