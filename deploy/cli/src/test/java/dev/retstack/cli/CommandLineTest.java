package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Terminal;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Parsing, help and exit codes, for every verb alike. */
class CommandLineTest {
  static Stream<String> verbs() {
    return Main.commandLine(Terminal.system()).getSubcommands().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void helpGoesToStandardOutputAndIsNoError(String verb) {
    Ran ran = Ran.well(verb, "--help");
    assertThat(ran.out()).startsWith("Usage: retstack " + verb).contains("Example:");
    assertThat(ran.err()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void unknownOptionIsAUsageErrorOnStandardError(String verb) {
    Ran ran = Ran.retstack(verb, "--no-such-option");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.out()).isEmpty();
    assertThat(ran.err()).contains("retstack: ").contains("retstack " + verb + " --help");
  }

  @Test
  void unknownVerbIsAUsageErrorWithAProposal() {
    Ran ran = Ran.retstack("docter");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("docter").contains("doctor");
  }

  @Test
  void noVerbIsAUsageError() {
    assertThat(Ran.retstack().code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void versionNamesTheBuildAndTheJvm() {
    Ran ran = Ran.well("--version");
    assertThat(ran.out()).containsPattern("retstack \\d+\\.\\d+\\.\\d+").contains("Java 25");
  }

  @Test
  void helpHasNoColourWhereTheOutputIsNoTerminal() {
    assertThat(Ran.retstack("--help").out()).doesNotContain("\u001b[");
  }

  @Test
  void doctorSaysWhatIsMissingWithExitCode4() {
    Map<String, String> nobodyThere = Map.of("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1");
    Ran ran = Ran.with(nobodyThere, "doctor");
    assertThat(ran.code()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(ran.out()).containsPattern("missing +kafka +127.0.0.1:1 does not answer");
  }

  @Test
  void portOutOfRangeIsAUsageError(@org.junit.jupiter.api.io.TempDir java.nio.file.Path dir) {
    Ran ran = Ran.retstack("broker", "--dir", dir.toString(), "--port", "70000");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("70000");
  }
}
