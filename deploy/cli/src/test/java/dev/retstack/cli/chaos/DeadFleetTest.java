package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.cli.ChaosRow;
import dev.retstack.cli.Pacer;
import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.LiveClient;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.progress.CoreWatch;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Fleets as real processes: one is killed in mid-run, one frozen and let go on, one ends in order,
 * one idles. What is shown of their cores follows, and nothing else changes.
 */
class DeadFleetTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration WAIT = Duration.ofMinutes(3);
  private static final String BUSY = "--image zoo-x86_64-fentry --arg dispatch --arg 1000000000";

  /** One call, and no other record for as long as the program runs. */
  private static final String IDLE = BUSY + " --filter run_dispatch";

  private static final String SHORT = "--image zoo-x86_64-fentry --arg fib --arg 5";

  @TempDir private Path dir;
  private Processes processes;
  private EmbeddedBroker broker;
  private LiveClient client;

  @Test
  @ChaosRow
  void coresOfAFleetThatDiedAreDead() throws Exception {
    try (EmbeddedBroker running = EmbeddedBroker.start(dir.resolve("broker"), 0);
        Processes started = new Processes(dir)) {
      broker = running;
      processes = started;
      KafkaSettings kafka = KafkaSettings.of(broker.bootstrap());
      try (TopicAdmin admin = new TopicAdmin(kafka, WAIT)) {
        admin.ensure(Topics.standard(), 2);
      }
      try (Pipeline pipeline = PipelineService.start(PipelineConfig.of(kafka));
          LiveClient asked = new LiveClient(pipeline.httpUri())) {
        client = asked;
        follow(pipeline);
      }
      // what one that was not there at the time is told by the topic alone
      try (Pipeline another =
              PipelineService.start(PipelineConfig.of(kafka).but().groupId("another").build());
          LiveClient asked = new LiveClient(another.httpUri())) {
        client = asked;
        await(
            "/cores",
            Map.of("killed", "DEAD", "frozen", "RUNNING", "idle", "RUNNING", "again", "RUNNING"));
      }
    }
  }

  private void follow(Pipeline pipeline) throws Exception {
    Process killed = fleet("killed", BUSY);
    processes.start(Pacer.of(killed));
    Process frozen = fleet("frozen", BUSY);
    Process pacer = processes.start(Pacer.of(frozen));
    processes.start(Pacer.of(fleet("idle", IDLE)));
    Processes.awaitEnd(fleet("ended", SHORT), (int) WAIT.toSeconds());
    await(
        "/cores",
        Map.of("killed", "RUNNING", "frozen", "RUNNING", "idle", "RUNNING", "ended", "HALTED"));
    CompletableFuture<CoreWatch.Ended> waiting = pipeline.awaitCoresEnded(3).toCompletableFuture();
    Processes.kill(killed);
    Pacer.end(pacer, frozen);
    RetstackScript.signal("STOP", frozen.pid());

    await(
        "/cores", Map.of("killed", "DEAD", "frozen", "DEAD", "idle", "RUNNING", "ended", "HALTED"));
    assertThat(waiting.get(WAIT.toSeconds(), TimeUnit.SECONDS).dead())
        .extracting(core -> core.key().session())
        .containsExactlyInAnyOrder("killed", "frozen");
    CoreProgress dead =
        pipeline.progress().toCompletableFuture().get(WAIT.toSeconds(), TimeUnit.SECONDS).stream()
            .filter(core -> core.key().session().equals("killed"))
            .findFirst()
            .orElseThrow();
    assertThat(dead.deadSince()).isPositive();
    assertThat(client.get("cores", Map.of("format", "text"))).contains("DEAD since 20");
    assertThat(client.get("cores", Map.of("format", "csv"))).contains(",DEAD," + dead.deadSince());
    assertThat(client.get("metrics", Map.of()))
        .containsPattern("retstack_cores\\{partition=\"\\d\",state=\"DEAD\"} [12]");
    for (JsonNode session : ask("sessions").get("sessions")) {
      boolean gone = session.get("session").asText().matches("killed|frozen");
      assertThat(session.get("dead").asLong()).isEqualTo(gone ? 1 : 0);
    }
    assertThat(ask("top").get("cores").get("DEAD").asLong()).isEqualTo(2);
    // its calls are open, and what was counted stays as it was
    JsonNode report = ask("report");
    assertThat(openCalls("killed")).isPositive();

    RetstackScript.signal("CONT", frozen.pid());
    processes.start(Pacer.of(frozen));
    processes.start(Pacer.of(fleet("again", BUSY)));
    await(
        "/cores",
        Map.of("killed", "DEAD", "frozen", "RUNNING", "idle", "RUNNING", "again", "RUNNING"));
    assertThat(openCalls("killed")).isPositive();
    assertThat(ask("report").get("lost")).isEqualTo(report.get("lost"));
  }

  private long openCalls(String session) throws Exception {
    JsonNode calls =
        JSON.readTree(client.get("calls/open", Map.of("format", "json", "session", session)));
    return calls.get("calls").size();
  }

  /** Starts a fleet; returns when it sends. */
  private Process fleet(String session, String what) throws Exception {
    Process process =
        processes.start(
            processes
                .retstack(
                    dir,
                    "exec retstack emulate %s --session %s --flush-ms 50 --bootstrap %s 2>&1"
                        .formatted(what, session, broker.bootstrap()))
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile())));
    BufferedReader notes = process.inputReader(UTF_8);
    StringBuilder said = new StringBuilder();
    String note = "";
    while (!note.contains("session " + session)) {
      note = notes.readLine();
      assertThat(note).as("%s says %s", session, said).isNotNull();
      said.append(note).append('\n');
    }
    Thread.ofVirtual().start(() -> notes.lines().forEach(_ -> {}));
    return process;
  }

  private JsonNode ask(String path) throws Exception {
    return JSON.readTree(client.get(path, Map.of("format", "json")));
  }

  /** Asks until these sessions' cores are shown so. */
  private void await(String path, Map<String, String> expected) throws Exception {
    long deadline = System.nanoTime() + WAIT.toNanos();
    Map<String, String> found = new TreeMap<>();
    Predicate<Map<String, String>> holds = all -> all.entrySet().containsAll(expected.entrySet());
    while (!holds.test(found)) {
      assertThat(System.nanoTime()).as("%s, not %s", found, expected).isLessThan(deadline);
      LockSupport.parkNanos(20_000_000); // who is waited for has the processor meanwhile
      for (JsonNode core : ask(path.substring(1)).get("cores")) {
        found.put(core.get("session").asText(), core.get("end").asText());
      }
    }
  }
}
