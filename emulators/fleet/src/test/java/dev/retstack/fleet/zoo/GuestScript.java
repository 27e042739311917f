package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The scripts {@code build.sh} of {@code emulators/guest} and its folders. */
final class GuestScript {
  private GuestScript() {}

  /**
   * Runs that of a folder to its good end. It says what was built and what it skipped, such as a
   * form whose libraries are not installed.
   */
  static String build(Path folder, Map<String, String> environment, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(folder.resolve("build.sh").toAbsolutePath().toString());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0 && GuestCompiler.lacksLibraries(said)) {
      return "skipped: no library for " + String.join(" ", arguments);
    }
    assertThat(process.waitFor()).as("%s\n%s", command, said).isZero();
    return said;
  }

  /** The same with the environment as it is. */
  static String build(Path folder, String... arguments) throws IOException, InterruptedException {
    return build(folder, Map.of(), List.of(arguments));
  }
}
