package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What a command line said and returned, run in this JVM. */
public record Ran(int code, String out, String err) {
  /** Runs with an empty environment. */
  public static Ran retstack(String... args) {
    return with(Map.of(), args);
  }

  /** Runs with an empty environment what has to go well. */
  public static Ran well(String... args) {
    Ran ran = retstack(args);
    assertThat(ran.code).as(ran.err).isEqualTo(ExitCode.OK);
    return ran;
  }

  /** Runs with the given environment variables. */
  public static Ran with(Map<String, String> environment, String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal =
        new Terminal(
            new PrintStream(out, false, StandardCharsets.UTF_8),
            new PrintStream(err, false, StandardCharsets.UTF_8),
            false,
            environment);
    int code = Main.run(terminal, args);
    return new Ran(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }
}
