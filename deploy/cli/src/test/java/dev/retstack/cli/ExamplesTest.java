package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.Terminal;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * The example in each verb's help works as it stands, typed in an empty folder. A JVM that is there
 * already runs what needs no shell, since most of an example's time is the start of its JVM.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class ExamplesTest {
  /** Verbs that run until they are told to stop. */
  private static final Set<String> FOREGROUND = Set.of("broker", "pipeline", "view");

  /** Verbs whose example needs a cluster, which the user names in the environment. */
  private static final Set<String> NEED_KAFKA =
      Set.of("dead-letters", "emulate", "pipeline", "top", "trace");

  /** Verbs whose example needs a pipeline, which announces itself in that cluster. */
  private static final Set<String> NEED_PIPELINE = Set.of("top");

  /** What means the same without a shell. */
  private static final Pattern PLAIN = Pattern.compile("retstack ([^'\"$&|;<>*?`\\\\~#()]+)");

  private Path folder;
  private Path script;
  private RetstackInFolder retstack;
  private EmbeddedBroker broker;

  @BeforeAll
  void recordTheTraceOfTheOtherExamples(@TempDir Path empty) throws Exception {
    folder = empty;
    script = RetstackScript.write(folder.resolve("bin"));
    retstack = RetstackInFolder.start(folder);
    broker = EmbeddedBroker.start(folder.resolve("kafka"), 0);
    for (String example : examples("record")) {
      if (example.contains("gcc") && !Files.isExecutable(Path.of("/usr/bin/gcc"))) {
        System.out.println("skipped: no gcc for " + example);
      } else {
        runToEnd(example, Map.of());
      }
    }
  }

  @AfterAll
  void stop() {
    retstack.close();
    broker.close();
  }

  /**
   * {@code bench} is tried where it is, in deploy/benchmarks; {@code record} was, for the others.
   */
  static Stream<String> verbs() {
    return parser().getSubcommands().keySet().stream()
        .filter(verb -> !Set.of("bench", "record").contains(verb));
  }

  @ParameterizedTest
  @MethodSource("verbs")
  void works(String verb) throws Exception {
    List<String> examples = examples(verb);
    assertThat(examples).isNotEmpty();
    Map<String, String> cluster = Map.of("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap());
    Map<String, String> environment = NEED_KAFKA.contains(verb) ? cluster : Map.of();
    if (NEED_PIPELINE.contains(verb)) {
      KafkaSettings kafka = KafkaSettings.of(broker.bootstrap());
      try (Pipeline running = PipelineService.start(PipelineConfig.of(kafka))) {
        assertThat(running.httpUri()).isNotNull();
        for (String example : examples) {
          runInShell(example, environment); // in this JVM it asks before the member can answer
        }
      }
      return;
    }
    for (String example : examples) {
      if (FOREGROUND.contains(verb)) {
        runUntilItServes(example, environment);
      } else {
        runToEnd(example, environment);
      }
    }
  }

  private void runToEnd(String example, Map<String, String> environment) throws Exception {
    Matcher plain = PLAIN.matcher(example);
    if (plain.matches()) {
      Ran ran = retstack.run(environment, plain.group(1));
      assertThat(ran.code()).as(example + "\n" + ran.out() + ran.err()).isZero();
      return;
    }
    runInShell(example, environment);
  }

  private void runInShell(String example, Map<String, String> environment) throws Exception {
    Path output = Files.createTempFile(folder, "output", ".txt");
    Process process =
        RetstackScript.line(script, folder, environment, example)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = process.waitFor(2, TimeUnit.MINUTES);
    process.destroyForcibly();
    assertThat(ended).as(example + " ends\n" + Files.readString(output)).isTrue();
    assertThat(process.exitValue()).as(example + "\n" + Files.readString(output)).isZero();
  }

  /** The first line on standard output is the address; then it is told to stop, and stops. */
  private void runUntilItServes(String example, Map<String, String> environment) throws Exception {
    Path notes = Files.createTempFile(folder, "notes", ".txt");
    Process process =
        RetstackScript.line(script, folder, environment, "exec " + example)
            .redirectError(notes.toFile())
            .start();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).as(Files.readString(notes)).contains("127.0.0.1:");
      process.destroy();
      process.waitFor();
    } catch (IOException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private static List<String> examples(String verb) {
    CommandLine command = parser().getSubcommands().get(verb);
    return Arrays.stream(command.getCommandSpec().usageMessage().footer())
        .filter(line -> line.startsWith("  "))
        .map(String::strip)
        .toList();
  }

  private static CommandLine parser() {
    return Main.commandLine(Terminal.system());
  }
}
