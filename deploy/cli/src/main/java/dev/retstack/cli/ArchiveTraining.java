package dev.retstack.cli;

import dev.retstack.cli.command.Terminal;
import java.util.List;

/**
 * Runs short verbs one after the other, so that a class archive which the JVM makes at its end
 * serves all of them. The launcher calls it after a build.
 */
public final class ArchiveTraining {
  private ArchiveTraining() {}

  /**
   * Ends the JVM with the largest exit code of the verbs.
   *
   * @param arguments a recorded trace
   */
  public static void main(String[] arguments) {
    List<String[]> lines =
        List.of(
            new String[] {"isa"},
            new String[] {"report", arguments[0]},
            new String[] {"graph", arguments[0]},
            new String[] {"anomalies", arguments[0], "--format", "json"});
    int worst = 0;
    for (String[] line : lines) {
      worst = Math.max(worst, Main.run(Terminal.system(), line));
    }
    System.exit(worst);
  }
}
