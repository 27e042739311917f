package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.NamedProgram;
import dev.retstack.cli.Ran;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A command to a fleet that runs, and its preview, take each name of a function. */
class CommandedNamesTest {
  @Test
  @Timeout(240)
  void eachNameMeansTheFunction(@TempDir Path dir) throws Exception {
    String program = NamedProgram.build(dir).toString();
    try (CommandedFleet fleet = new CommandedFleet(dir, "names", List.of(program));
        HttpClient http = HttpClient.newHttpClient()) {
      for (String name : List.of("one", "uno", "frail", "_ZN5ThingC2Ei")) {
        HttpResponse<String> preview =
            http.send(
                HttpRequest.newBuilder(
                        fleet
                            .pipeline()
                            .httpUri()
                            .resolve(
                                "/control/preview?command=set-filter&target=all&arguments=" + name))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(preview.statusCode()).as(preview.body()).isEqualTo(200);
        JsonNode rows = new ObjectMapper().readTree(preview.body()).path("rows");
        assertThat(rows.findValuesAsText("functions")).as(name).containsExactly("1");
        Ran applied = fleet.trace("set-filter", name);
        assertThat(applied.code()).as(applied.err()).isZero();
        assertThat(applied.out()).containsPattern("named +applied .* 1/\\d+ ");
      }
      Ran unknown = fleet.trace("set-filter", "unno");
      assertThat(unknown.out() + unknown.err()).contains("did you mean uno?");
    }
  }
}
