package dev.retstack.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Main;
import dev.retstack.cli.command.Terminal;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** {@code retstack bench} with the class path that the launcher gives it. */
class BenchVerbTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void theExampleOfItsHelpWorks() throws Exception {
    String example =
        Main.commandLine(Terminal.system())
            .getSubcommands()
            .get("bench")
            .getCommandSpec()
            .usageMessage()
            .footer()[0]
            .strip();
    assertThat(example).startsWith("retstack bench ");
    JsonNode rows = JSON.readTree(CommandRun.retstack(words(example)));
    assertThat(stages(rows)).contains("replay");
  }

  /** What its programs are comes from the simulation, which the command does not have. */
  @Test
  void accuracyIsMeasured() throws Exception {
    String out =
        CommandRun.retstack(
            words("retstack bench --stage accuracy --rounds 1 --calls 2000 --format json"));
    JsonNode rows = JSON.readTree(out);
    assertThat(stages(rows)).containsExactly("accuracy");
    for (JsonNode row : rows) {
      if (row.get("figure").asText().endsWith("WrongPercent")) {
        assertThat(row.get("value").asDouble()).as(row.toString()).isZero();
      }
    }
  }

  private static String[] words(String line) {
    return line.substring("retstack ".length()).split(" ");
  }

  private static Set<String> stages(JsonNode rows) {
    Set<String> stages = new TreeSet<>();
    rows.forEach(row -> stages.add(row.get("stage").asText()));
    return stages;
  }
}
