package dev.retstack.cli.result;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Main;
import dev.retstack.cli.Ran;
import dev.retstack.cli.house.Repository;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What reads a recorded trace runs where no class of Kafka is. */
class WithoutKafkaTest {
  private static final String TRACE = Repository.root() + "/schemas/golden/v1/trace.avro";

  @TempDir private Path dir;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "report TRACE",
        "graph TRACE",
        "anomalies TRACE",
        "cores TRACE",
        "export TRACE --format folded -o -"
      })
  void aVerbSaysTheSame(String line) throws Exception {
    List<String> words =
        Stream.of(line.split(" ", -1)).map(word -> word.equals("TRACE") ? TRACE : word).toList();
    Process process = start(words);
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).isZero();
    assertThat(out).isEqualTo(Ran.well(words.toArray(String[]::new)).out()).isNotBlank();
  }

  @Test
  void aTraceIsShownInTheBrowser() throws Exception {
    Process process = start(List.of("view", TRACE, "--no-browser"));
    try (BufferedReader lines = process.inputReader(UTF_8)) {
      URI page = URI.create(lines.readLine());
      assertThat(read(page.resolve("/"))).contains("<html");
      assertThat(read(page.resolve("/report"))).contains("\"resultHash\":\"4d706f9d9f6a2aa0");
    } finally {
      process.destroyForcibly();
    }
  }

  private static String read(URI page) throws IOException {
    try (InputStream in = page.toURL().openStream()) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private Process start(List<String> words) throws IOException {
    String classes =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !Path.of(entry).getFileName().toString().contains("kafka"))
            .collect(Collectors.joining(File.pathSeparator));
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                classes,
                Main.class.getName()));
    command.addAll(words);
    return new ProcessBuilder(command)
        .directory(dir.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
