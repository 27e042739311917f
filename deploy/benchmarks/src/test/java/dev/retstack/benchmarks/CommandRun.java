package dev.retstack.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Main;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.Map;

/** The command, run in this JVM with an empty environment. */
public final class CommandRun {
  private CommandRun() {}

  /** What it printed, when it did what it was asked. */
  public static String retstack(String... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal =
        new Terminal(
            new PrintStream(out, false, UTF_8),
            new PrintStream(err, false, UTF_8),
            false,
            Map.of());
    assertThat(Main.run(terminal, words)).as(err.toString(UTF_8)).isEqualTo(ExitCode.OK);
    return out.toString(UTF_8);
  }
}
