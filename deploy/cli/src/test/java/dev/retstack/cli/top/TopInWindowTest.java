package dev.retstack.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Applied;
import dev.retstack.cli.Ran;
import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.service.Pipeline;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code top} on a terminal, which is a pseudo terminal of script(1): its frames fit the window and
 * leave the scrollback alone, and while the broker is away they say what is not known.
 */
@Order(1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(240)
class TopInWindowTest {
  private static final String ESCAPE = "\u001b[";
  private static final Pattern FRAME =
      Pattern.compile("\u001b\\[H((?:(?!\u001b\\[H).)*?)\u001b\\[J", Pattern.DOTALL);
  private static final int PATIENCE_SECONDS = 90;

  private Path dir;
  private BrokerProcess broker;
  private Pipeline pipeline;

  @BeforeAll
  void aJob(@TempDir Path folder) throws Exception {
    dir = folder;
    assumeTrue(
        Stream.of(System.getenv("PATH").split(":", -1))
            .anyMatch(place -> Files.isExecutable(Path.of(place, "script"))),
        "no script in the path: apt-get install bsdutils");
    broker = BrokerProcess.start(dir.resolve("broker"), 0);
    Path trace = dir.resolve("fleet.avro");
    Ran.well(
        "record",
        "-o",
        trace.toString(),
        "--image",
        "zoo-x86_64-fentry",
        "--image",
        "zoo-riscv64-mcount",
        "--cores",
        "8");
    pipeline = Applied.start(broker.bootstrap(), trace);
  }

  @AfterAll
  void stop() throws Exception {
    if (pipeline != null) {
      pipeline.close();
    }
    if (broker != null) {
      broker.close();
    }
  }

  private void killBroker() throws Exception {
    ProcessHandle child = ProcessHandle.of(broker.pid()).orElseThrow();
    child.destroyForcibly();
    child.onExit().get(1, TimeUnit.MINUTES);
  }

  private void startBroker() throws Exception {
    int port = Integer.parseInt(broker.bootstrap().replaceFirst(".*:", ""));
    broker = BrokerProcess.start(dir.resolve("broker"), port);
  }

  /** A terminal with {@code top} in it. */
  private final class Window implements AutoCloseable {
    private final Process script;
    private final InputStream out;
    private final StringBuilder seen = new StringBuilder();
    private final String tty;

    Window(int rows, int columns, String... more) throws Exception {
      Path retstack = RetstackScript.write(dir.resolve("bin"));
      String command =
          "tty; stty rows %d cols %d; exec %s top --bootstrap %s --interval 0.3 %s"
              .formatted(rows, columns, retstack, broker.bootstrap(), String.join(" ", more));
      ProcessBuilder builder = new ProcessBuilder("script", "-qec", command, "/dev/null");
      builder.environment().put("TERM", "xterm");
      builder.environment().put("SHELL", "/bin/sh");
      script = builder.start();
      out = script.getInputStream();
      CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS)
          .execute(script::destroyForcibly); // then its output ends
      while (seen.indexOf("\n") < 0) {
        read();
      }
      tty = seen.substring(0, seen.indexOf("\r\n"));
    }

    private void read() throws IOException {
      byte[] bytes = new byte[1 << 16];
      int length = out.read(bytes);
      assertThat(length).as("top ended: %s", seen).isPositive();
      seen.append(new String(bytes, 0, length, StandardCharsets.UTF_8));
    }

    /** The next frame that is like this, in lines. */
    List<String> frame(Predicate<List<String>> like) throws IOException {
      int from = seen.length();
      while (true) {
        read();
        Matcher frames = FRAME.matcher(seen);
        for (int at = from; frames.find(at); at = frames.end()) {
          List<String> lines =
              Arrays.stream(frames.group(1).split("\r\n", -1))
                  .map(line -> line.replace(ESCAPE + "K", ""))
                  .toList();
          assertThat(lines.getLast()).isEmpty(); // where the cursor is
          if (like.test(lines.subList(0, lines.size() - 1))) {
            return lines.subList(0, lines.size() - 1);
          }
        }
      }
    }

    void resize(int rows, int columns) throws Exception {
      List<String> stty = List.of("stty", "-F", tty, "rows", "" + rows, "cols", "" + columns);
      assertThat(new ProcessBuilder(stty).start().waitFor()).isZero();
    }

    /** Ends it by Ctrl-C. */
    @Override
    public void close() throws IOException {
      script.getOutputStream().write(3);
      script.getOutputStream().flush();
      seen.append(new String(out.readAllBytes(), StandardCharsets.UTF_8));
      script.onExit().join();
      assertThat(seen.toString())
          .doesNotContain(ESCAPE + "3J")
          .doesNotContain(ESCAPE + "2J")
          .doesNotContain(ESCAPE + "?1049");
    }
  }

  private static boolean fits(List<String> lines, int rows, int columns) {
    return lines.size() < rows && lines.stream().allMatch(line -> line.length() <= columns);
  }

  @Test
  void framesFitTheWindowAlsoWhenItChanges() throws Exception {
    try (Window window = new Window(24, 80)) {
      List<String> frame = window.frame(lines -> true);
      assertThat(fits(frame, 24, 80)).as("%s", frame).isTrue();
      assertThat(frame.getFirst()).startsWith("1 node, ").endsWith(",");
      assertThat(String.join("\n", frame))
          .contains("complete", "FUNCTION", "FRAME_POINTER_MISMATCHES");
      assertThat(window.seen.toString())
          .as("what was in the window moved up")
          .contains("\r\n".repeat(24) + ESCAPE + "H");
      window.resize(12, 40);
      frame = window.frame(lines -> fits(lines, 12, 40));
      assertThat(String.join("\n", frame)).contains("more lines");
      assertThat(frame).anyMatch(line -> line.length() == 40 && line.endsWith(">"));
      window.resize(60, 200);
      frame = window.frame(lines -> lines.size() > 24);
      assertThat(fits(frame, 60, 200)).as("%s", frame).isTrue();
      assertThat(frame.getFirst()).endsWith("complete");
      assertThat(frame.stream().filter(line -> line.startsWith("zoo-"))).hasSize(10);
    }
  }

  /** It asks the members that it knows, and Kafka only if none of them answers. */
  @Test
  void theLagIsUnknownWhileTheBrokerIsAway() throws Exception {
    String http = pipeline.httpUri().toString();
    String[] once = {"top", "--http", http, "--once", "--interval", "0.1", "--format", "json"};
    assertThat(new ObjectMapper().readTree(Ran.well(once).out()).path("lag").isNumber()).isTrue();
    try (Window window = new Window(24, 120)) {
      window.frame(lines -> lines.getFirst().contains("lag 0 chunks"));
      killBroker();
      List<String> frame = window.frame(lines -> lines.getFirst().contains("lag unknown"));
      assertThat(frame).anyMatch(line -> line.matches("127\\.0\\.0\\.1:.* unknown"));
      JsonNode answer = new ObjectMapper().readTree(Ran.well(once).out());
      assertThat(answer.path("lag").isNull()).isTrue();
      assertThat(answer.path("nodes").get(0).has("lag")).isFalse();
      startBroker();
      window.frame(lines -> lines.getFirst().contains("lag 0 chunks"));
    }
  }
}
