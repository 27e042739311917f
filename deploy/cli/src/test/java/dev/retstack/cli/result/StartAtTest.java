package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Main;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Ranges;
import dev.retstack.cli.command.Terminal;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.checkpoint.StartAt;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A group without state begins where it is told; one with a state goes on from that. */
@Timeout(240)
class StartAtTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private static Path dir;
  private static EmbeddedBroker broker;

  /** The topic's ends between the first run, fib, and the second one, sort. */
  private static Map<TopicPartition, Long> between;

  private static Instant then;

  @BeforeAll
  static void twoRuns() throws Exception {
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
    run("fib", 5);
    between = ends();
    Instant after = Instant.now();
    do { // records of the same millisecond would be on both sides
      then = Instant.now();
    } while (then.toEpochMilli() == after.toEpochMilli());
    run("sort", 5);
  }

  private static Map<TopicPartition, Long> ends() throws Exception {
    try (TopicAdmin admin =
        new TopicAdmin(KafkaSettings.of(broker.bootstrap()), Duration.ofMinutes(1))) {
      return admin.endOffsets(Topics.standard().events());
    }
  }

  @AfterAll
  static void stop() {
    broker.close();
  }

  private static void run(String program, int argument) {
    Ran.well(
        "emulate",
        "--bootstrap",
        broker.bootstrap(),
        "--partitions",
        "1",
        "--image",
        "zoo-riscv64-mcount",
        "--",
        program,
        String.valueOf(argument));
  }

  @Test
  void allThatIsThereIsTheDefault() throws Exception {
    assertThat(functions("all", new StartAt.Earliest())).contains("fib", "quicksort");
  }

  @Test
  void aTimeOrAnOffsetLeavesOutWhatWasBefore() throws Exception {
    long offset = between.values().iterator().next();
    for (String start : new String[] {then.toString(), String.valueOf(offset)}) {
      assertThat(functions("from-" + start.hashCode(), StartAt.parse(start)))
          .as(start)
          .contains("quicksort")
          .doesNotContain("fib");
    }
  }

  /** Its second chunk tells which calls are open, and since when. */
  @Test
  void aCoreThatIsReadFromItsMiddleHasTheCallsThatAreOpen() throws Exception {
    long first = ends().values().iterator().next();
    run("w200", 2_000);
    JsonNode whole = rows("whole", new StartAt.Offset(first)).get("run_w200");
    JsonNode part = rows("middle", new StartAt.Offset(first + 1)).get("run_w200");
    assertThat(part.path("calls").asInt()).isOne();
    assertThat(part.path("min").asLong()).isEqualTo(whole.path("min").asLong());
    assertThat(part.path("total").asLong()).isEqualTo(whole.path("total").asLong());
    assertThat(part.path("self").asLong()).isBetween(1L, whole.path("self").asLong() - 1);
  }

  @Test
  void aGroupWithAStateGoesOnFromIt() throws Exception {
    assertThat(functions("twice", new StartAt.Earliest())).contains("fib");
    assertThat(functions("twice", new StartAt.Latest())).contains("fib", "quicksort");
  }

  /** Other verbs have an option of this name that is a number. */
  @ParameterizedTest
  @ValueSource(strings = {"earliest", "latest", "17", "2026-11-26T16:00:00Z"})
  void theVerbTakesEveryKindOfStart(String start) {
    Ranges.check(Main.commandLine(Terminal.system()).parseArgs("pipeline", "--from", start));
  }

  @Test
  void whatIsNoStartIsSaid() {
    for (String wrong : new String[] {"yesterday", "-1", "2026-11-26", "99999999999999999999"}) {
      assertThatThrownBy(() -> StartAt.parse(wrong))
          .hasMessageContaining(wrong)
          .hasMessageContaining("latest");
    }
    Ran ran = Ran.retstack("pipeline", "--from", "yesterday");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("yesterday").contains("2026-11-26T16:00:00Z");
  }

  /** Names that the live report of a group has once the second run has ended there. */
  private static Set<String> functions(String group, StartAt start) throws Exception {
    return rows(group, start).keySet();
  }

  private static Map<String, JsonNode> rows(String group, StartAt start) throws Exception {
    PipelineConfig config =
        PipelineConfig.of(KafkaSettings.of(broker.bootstrap()))
            .but()
            .groupId(group)
            .http("127.0.0.1", 0)
            .start(start)
            .build();
    int cores = start.equals(new StartAt.Earliest()) || group.equals("twice") ? 2 : 1;
    try (Pipeline member = PipelineService.start(config)) {
      var _ = member.awaitCoresEnded(cores).toCompletableFuture().get(2, TimeUnit.MINUTES);
      Ran report =
          Ran.well("report", "--live", "--http", member.httpUri().toString(), "--format", "json");
      Map<String, JsonNode> rows = new TreeMap<>();
      for (JsonNode row : JSON.readTree(report.out()).path("functions")) {
        rows.put(row.path("name").asText(), row);
      }
      return rows;
    }
  }
}
