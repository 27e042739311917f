package dev.retstack.cli.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** Runs programs that an operator runs. */
final class OperatorRun {
  private OperatorRun() {}

  /** What a program says that ends with 0; it finds the JDK of the tests. */
  static String succeeds(Path folder, Map<String, String> environment, String... command)
      throws Exception {
    return ends(0, folder, environment, command);
  }

  /** What a program says that ends with this exit code. */
  static String ends(int code, Path folder, Map<String, String> environment, String... command)
      throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    Process process = builder.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isEqualTo(code);
    return said;
  }

  /** Skips a test where this process cannot run others as other users, with mounts of their own. */
  static void assumeOtherUsers() throws Exception {
    Assumptions.assumeTrue(
        "root".equals(System.getProperty("user.name")), "not root: cannot become another user");
    Process process = new ProcessBuilder("unshare", "--mount", "true").start();
    Assumptions.assumeTrue(process.waitFor() == 0, "this machine grants no mounts");
  }

  /** Whether a program is in PATH. */
  static boolean isInstalled(String program) {
    return Arrays.stream(System.getenv("PATH").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
