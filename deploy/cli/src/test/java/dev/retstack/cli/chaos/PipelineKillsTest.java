package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.Ran;
import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.LiveClient;
import dev.retstack.service.ingest.KafkaSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members of the pipeline, real processes, are killed at random moments while a fleet sends: the
 * result is that of the recorded trace of the same chunks, hash for hash, and each anomaly is
 * published once. Nobody is named for the last question: the cluster's address is enough, and
 * whoever is found there answers for all members. {@code -Dretstack.kills=200} kills more often,
 * {@code -Dretstack.seed=S} at the same moments.
 */
class PipelineKillsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int KILLS = Integer.getInteger("retstack.kills", 2);
  private static final int NODES = 2;
  private static final int PARTITIONS = 4;

  /** Longest time between two kills. */
  private static final int PAUSE_MS = 5_000;

  /** The least that a broker accepts: so long nobody reads the partitions of a dead member. */
  private static final String SESSION = "session.timeout.ms=6000";

  private static final Duration CATCH_UP = Duration.ofMinutes(3);

  @TempDir private Path dir;

  private final List<Process> processes = new ArrayList<>();

  /** A member of the pipeline. */
  private record Node(Process process, URI http) {}

  @AfterEach
  void endAll() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  @Test
  void killsChangeNothing() throws Exception {
    long seed = Long.getLong("retstack.seed", System.nanoTime());
    System.out.println("killsChangeNothing: -Dretstack.seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0)) {
      List<Node> nodes = new ArrayList<>();
      for (int i = 0; i < NODES; i++) {
        nodes.add(startNode(broker));
      }
      Process fleet = startFleet(broker);
      for (int kill = 0; kill < KILLS; kill++) {
        boolean ended = fleet.waitFor(random.nextInt(PAUSE_MS), TimeUnit.MILLISECONDS);
        assertThat(ended).as("the fleet is there before kill %s", kill).isFalse();
        nodes.remove(random.nextInt(NODES)).process().destroyForcibly().waitFor();
        nodes.add(startNode(broker));
      }
      new ProcessBuilder("kill", "-INT", String.valueOf(fleet.pid())).start().waitFor();
      assertThat(fleet.waitFor(60, TimeUnit.SECONDS)).isTrue();
      compare(broker, nodes.getLast());
    }
  }

  /** What the members together say against a replay of all that was sent. */
  private void compare(EmbeddedBroker broker, Node last) throws Exception {
    String trace = dir.resolve("events.avro").toString();
    Ran copied =
        Ran.retstack("record", "--from-kafka", "-o", trace, "--bootstrap", broker.bootstrap());
    assertThat(copied.code()).as(copied.err()).isEqualTo(ExitCode.OK);
    JsonNode replayed = report(trace);
    awaitAll(last, replayed.get("records").asLong());
    JsonNode live = report("--live", "--bootstrap", broker.bootstrap());
    assertThat(live.get("parts"))
        .hasSize(PARTITIONS)
        .allSatisfy(part -> assertThat(part.has("missing")).isFalse());
    assertThat(live.get("resultHash")).isEqualTo(replayed.get("resultHash"));
    assertThat(live.get("completeness").asDouble()).isEqualTo(100);
    top(broker, replayed.get("records").asLong());
    List<String> published = published(broker);
    assertThat(published).isNotEmpty().doesNotHaveDuplicates();
  }

  /** What goes on, for people and for programs. */
  private static void top(EmbeddedBroker broker, long records) throws IOException {
    String[] line = {"top", "--once", "--interval", "0.1", "--bootstrap", broker.bootstrap()};
    Ran text = Ran.retstack(line);
    assertThat(text.code()).as(text.err()).isEqualTo(ExitCode.OK);
    assertThat(text.out())
        .contains("4 of 4 partitions", "0 of 8 cores run", "lag 0 chunks", "dispatch")
        .contains("RECORDS/S", "CALLS/S");
    String[] program =
        Stream.concat(Stream.of(line), Stream.of("--format", "json")).toArray(String[]::new);
    JsonNode top = JSON.readTree(Ran.retstack(program).out());
    assertThat(top.get("records").asLong()).isEqualTo(records);
    assertThat(top.get("recordsPerSecond").asDouble()).isZero();
    assertThat(top.get("topCores")).hasSize(8);
    assertThat(top.get("topFunctions")).isNotEmpty();
  }

  private static JsonNode report(String... source) throws IOException {
    List<String> line = new ArrayList<>(List.of("report", "--format", "json"));
    line.addAll(List.of(source));
    Ran ran = Ran.retstack(line.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    return JSON.readTree(ran.out());
  }

  /** Waits until the members together have read so many records, by what one of them says. */
  private static void awaitAll(Node node, long records) throws Exception {
    long start = System.nanoTime();
    long seen = -1;
    try (LiveClient client = new LiveClient(node.http())) {
      while (System.nanoTime() - start < CATCH_UP.toNanos()) {
        JsonNode cores = JSON.readTree(client.get("cores", Map.of())).get("cores");
        seen = 0;
        for (JsonNode core : cores) {
          seen += core.get("records").asLong();
        }
        if (seen == records) {
          return;
        }
        assertThat(node.process().waitFor(200, TimeUnit.MILLISECONDS)).isFalse();
      }
    }
    throw new AssertionError("%d of %d records after %s".formatted(seen, records, CATCH_UP));
  }

  /** What a reader that sees committed records only finds in the anomalies topic. */
  private static List<String> published(EmbeddedBroker broker) throws Exception {
    String topic = Topics.standard().anomalies();
    Map<String, Object> settings = KafkaSettings.of(broker.bootstrap()).consumer();
    settings.put("isolation.level", "read_committed");
    List<String> found = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> all =
          IntStream.range(0, consumer.partitionsFor(topic).size())
              .mapToObj(p -> new TopicPartition(topic, p))
              .toList();
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      Set<TopicPartition> left = new HashSet<>(all);
      while (!left.isEmpty()) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          Anomaly anomaly = ConfluentFrame.decode(record.value(), Anomaly.class);
          found.add(
              "%s %s %d %x"
                  .formatted(
                      anomaly.getCore(),
                      anomaly.getKind(),
                      anomaly.getTime(),
                      anomaly.getSelfpc()));
        }
        left.removeIf(partition -> consumer.position(partition) >= ends.get(partition));
      }
    }
    return found;
  }

  private Node startNode(EmbeddedBroker broker) throws Exception {
    String line =
        "exec retstack pipeline --http-port 0 --bootstrap %s --partitions %d --kafka %s"
            .formatted(broker.bootstrap(), PARTITIONS, SESSION);
    Process process =
        start(line).redirectError(Files.createTempFile(dir, "node", ".log").toFile()).start();
    processes.add(process);
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    String address = out.readLine();
    assertThat(address).as("address of a member").isNotNull();
    return new Node(process, URI.create(address));
  }

  /** Cores that go on until they are stopped; a ret_stack that is too small makes anomalies. */
  private Process startFleet(EmbeddedBroker broker) throws Exception {
    String line =
        ("exec retstack emulate --bootstrap %s --cores 2 --flush-ms 50 --image zoo-x86_64-fentry"
                + " --image zoo-riscv64-mcount --image zoo-aarch64-mcount --image zoo-s390x-mcount"
                + " --ret-stack 2 -- dispatch 1000000000")
            .formatted(broker.bootstrap());
    Process process =
        start(line).redirectOutput(Files.createTempFile(dir, "fleet", ".txt").toFile()).start();
    processes.add(process);
    BufferedReader notes = process.errorReader(StandardCharsets.UTF_8);
    for (String note = notes.readLine(); note != null; note = notes.readLine()) {
      if (note.contains(" records in ")) {
        Thread.ofVirtual().start(() -> notes.lines().forEach(_ -> {})); // or it waits for a reader
        return process;
      }
    }
    throw new AssertionError("the fleet ended");
  }

  private ProcessBuilder start(String line) throws IOException {
    return RetstackScript.line(RetstackScript.write(dir.resolve("bin")), dir, Map.of(), line);
  }
}
