package dev.retstack.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Commands given by the command line to a fleet that runs, through a real broker. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TraceCommandsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private EmbeddedBroker broker;
  private Path folder;

  @BeforeAll
  void startBroker(@TempDir Path dir) throws Exception {
    folder = dir;
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
  }

  @AfterAll
  void stopBroker() {
    broker.close();
  }

  private Ran trace(String prefix, String... arguments) {
    return TracedFleet.trace(broker, prefix, arguments);
  }

  @Test
  void eachCoreSaysWhatItDid() throws Exception {
    try (TracedFleet fleet = new TracedFleet(broker, "does", "s-1")) {
      fleet.awaitListening();
      Ran one = trace("does", "set-filter", "w200_00?", "--target", "isa=riscv64");
      assertThat(one.code()).as(one.err()).isZero();
      assertThat(one.out().lines())
          .hasSize(2)
          .last()
          .asString()
          .matches(
              "zoo-riscv64-mcount +riscv64 +zoo-riscv64-mcount.elf +applied +\\+0 +-\\d+ +10/\\d+ +\\d+");

      Path names = Files.writeString(folder.resolve("names.txt"), "# two\nw200_001 w200_002\n");
      Ran file = trace("does", "set-notrace", "@" + names, "--format", "csv");
      assertThat(file.code()).as(file.err()).isZero();
      assertThat(file.out()).contains(",applied,").hasLineCount(4);

      JsonNode status = JSON.readTree(trace("does", "status", "--format", "json").out());
      assertThat(status).hasSize(3);
      assertThat(status.findValues("settings").getFirst().get(0).asText())
          .isEqualTo("set-filter w200_00?");
      assertThat(status.findValues("settings").get(1).get(0).asText())
          .isEqualTo("set-notrace w200_001 w200_002");

      Ran partly =
          trace("does", "set-filter", "section:zoo_far_text", "--target", "core=nobody|zoo-s*");
      assertThat(partly.code()).as(partly.err()).isZero();

      Ran log = trace("does", "log", "--issuer", "x", "--format", "csv");
      assertThat(log.out().lines())
          .anyMatch(line -> line.contains(",isa=riscv64,set-filter w200_00?,1,0,"))
          .anyMatch(line -> line.contains(",all,set-notrace w200_001 w200_002,3,0,"));
      assertThat(
              JSON.readTree(trace("does", "log", "--format", "json").out()).findValues("answers"))
          .anyMatch(answers -> answers.size() == 4);
    }
  }

  @Test
  void whatCannotBeDoneIsSaidWithAnExitCode() throws Exception {
    try (TracedFleet fleet = new TracedFleet(broker, "cannot", "s-1")) {
      fleet.awaitListening();
      Ran unknown = trace("cannot", "set-filter", "w200_01x", "--target", "isa=s390x");
      assertThat(unknown.code()).isEqualTo(ExitCode.FINDINGS);
      assertThat(unknown.out())
          .contains("refused")
          .contains("no function of zoo-s390x-mcount.elf is 'w200_01x': did you mean w200_01");

      Ran nobody = trace("cannot", "off", "--target", "isa=vax");
      assertThat(nobody.code()).isEqualTo(ExitCode.FINDINGS);
      assertThat(nobody.err())
          .contains(
              "target 'isa=vax' selects none of 3 cores: there are isa=riscv64, s390x, x86_64");

      Ran command = trace("cannot", "set-filtre", "a");
      assertThat(command.code()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(command.err()).contains("no such command: 'set-filtre'; there are set-filter");
    }
    Ran gone = trace("cannot", "off", "--deadline-ms", "300");
    assertThat(gone.code()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(gone.err()).contains("nobody answered within 300 ms: is a fleet running");
  }

  /** The log holds what fleets of tomorrow are to trace. */
  @Test
  void aFleetThatStartsLaterReadsTheLog() throws Exception {
    try (TracedFleet fleet = new TracedFleet(broker, "later", "s-1")) {
      fleet.awaitListening();
      assertThat(trace("later", "set-filter", "w200_11?").code()).isZero();
      assertThat(trace("later", "set-max-depth", "3", "--target", "label=isa:riscv*").code())
          .isZero();
    }
    try (TracedFleet fleet = new TracedFleet(broker, "later", "s-2")) {
      fleet.awaitListening();
      JsonNode status = JSON.readTree(trace("later", "status", "--format", "json").out());
      assertThat(status.findValuesAsText("session")).containsOnly("s-2");
      assertThat(status.findValues("settings"))
          .extracting(JsonNode::toString)
          .containsExactly(
              "[\"set-filter w200_11?\",\"set-max-depth 3\"]",
              "[\"set-filter w200_11?\"]",
              "[\"set-filter w200_11?\"]");
    }
  }
}
