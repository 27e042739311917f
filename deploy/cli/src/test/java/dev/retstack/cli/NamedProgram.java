package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A program in which several names stand at one address. With an argument it never ends. */
public final class NamedProgram {
  private static final String SOURCE =
      """
      extern "C" {
      __attribute__((noinline, noclone)) int one(int n) { return n + 1; }
      int uno(int) __attribute__((alias("one")));
      __attribute__((noinline, noclone)) int strong(int n) { return one(n) * 5; }
      int frail(int) __attribute__((weak, alias("strong")));
      __attribute__((noinline, noclone)) int red(int n) { return one(n) * 3; }
      __attribute__((noinline, noclone)) int green(int n) { return one(n) * 3; }
      }
      struct Thing { int v; Thing(int n); };
      __attribute__((noinline, noclone)) Thing::Thing(int n) { v = uno(n); }
      int main(int argc, char **) {
        int sum;
        do { sum = Thing(1).v + frail(1) + red(1) - green(1) - 12; } while (argc > 1);
        return sum;
      }
      """;

  private NamedProgram() {}

  /** Whether a command is on the path. */
  public static boolean isThere(String command) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, command)));
  }

  /**
   * Builds it; skips the calling test where there is no compiler.
   *
   * @param more options
   */
  public static Path build(Path dir, String... more) throws Exception {
    assumeTrue(isThere("g++"), "skipped: no g++");
    Path source = Files.writeString(dir.resolve("named.cc"), SOURCE);
    Path program = dir.resolve("named");
    List<String> line =
        new ArrayList<>(
            List.of(
                "g++",
                "-static",
                "-O1",
                "-fno-ipa-icf",
                "-ffunction-sections",
                "-pg",
                "-mfentry",
                "-Wl,--build-id",
                "-o",
                program.toString(),
                source.toString()));
    line.addAll(List.of(more));
    run(line);
    return program;
  }

  /** Runs a tool that must succeed. */
  public static void run(List<String> line) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(String.join(" ", line) + "\n" + said).isZero();
  }
}
