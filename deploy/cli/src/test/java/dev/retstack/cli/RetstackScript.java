package dev.retstack.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

/** A {@code retstack} for a test's PATH that runs the classes under test, as the launcher would. */
public final class RetstackScript {
  private RetstackScript() {}

  /**
   * Writes the script to {@code folder} and returns it.
   *
   * @param flags more of the JVM
   */
  public static Path write(Path folder, String... flags) throws IOException {
    Path script = Files.createDirectories(folder).resolve("retstack");
    List<String> command = ClassArchive.java();
    command.add("-Xmx512m");
    command.addAll(List.of(flags));
    Files.writeString(
        script,
        """
        #!/bin/sh
        exec %s dev.retstack.cli.Main "$@"
        """
            .formatted("\"" + String.join("\" \"", command) + "\""));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    return script;
  }

  /** Sends a signal, such as {@code INT}. */
  public static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid).start().waitFor();
  }

  /** A bash line with the script in PATH; standard error goes where standard output goes. */
  public static ProcessBuilder line(
      Path script, Path folder, Map<String, String> more, String line) {
    // SIGINT is ignored for good below a shell that put the build in the background
    List<String> shell = List.of("env", "--default-signal=INT", "bash", "-c", line);
    ProcessBuilder builder = new ProcessBuilder(shell);
    builder.directory(folder.toFile());
    builder.environment().put("PATH", script.getParent() + ":" + builder.environment().get("PATH"));
    builder.environment().remove("KAFKA_BOOTSTRAP_SERVERS");
    builder.environment().put("RETSTACK_PROGRESS", "0.5");
    builder.environment().putAll(more);
    return builder;
  }
}
