package dev.retstack.cli.trace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.Ran;
import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.transfer.KafkaToTrace;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands to cores in separate processes, the whole way: {@code retstack trace}, the control
 * topic, the parent, the child, and back; then what stands in the events topic.
 */
class IsolatedCommandsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MEANT = "zoo-riscv64-mcount";
  private static final String OTHER = "zoo-x86_64-fentry";
  private static final String FUNCTION = "dispatch_apply";

  @TempDir private Path dir;

  @Test
  void aFilterReachesTheChildThatHasTheCoreAndNoOther() throws Exception {
    Path events = dir.resolve("events.avro");
    JsonNode applied;
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0)) {
      KafkaSettings kafka = KafkaSettings.of(broker.bootstrap());
      try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
        admin.ensure(Topics.standard(), 2);
      }
      forge(kafka); // what was commanded before
      Process fleet = start(broker.bootstrap());
      try (BufferedReader notes =
          new BufferedReader(
              new InputStreamReader(fleet.getErrorStream(), StandardCharsets.UTF_8))) {
        awaitRecords(notes);
        forge(kafka);
        applied = answer(broker, "set-filter", FUNCTION);
        JsonNode refused = answer(broker, "set-filter", "dispatch_aply");
        assertThat(refused.get("status").asText()).isEqualTo("refused");
        assertThat(refused.toString()).contains(FUNCTION);
        awaitRecords(notes);
        RetstackScript.signal("INT", fleet.pid());
        assertThat(fleet.waitFor(60, TimeUnit.SECONDS)).isTrue();
      } finally {
        fleet.descendants().forEach(ProcessHandle::destroyForcibly);
        fleet.destroyForcibly();
      }
      KafkaToTrace.copy(
          KafkaSettings.of(broker.bootstrap()),
          Topics.standard(),
          events,
          TraceReplay.Progress.SILENT);
    }
    assertThat(applied.get("core").asText()).isEqualTo(MEANT + "-0");
    assertThat(applied.get("status").asText()).isEqualTo("applied");
    assertThat(applied.get("sites").asInt()).isEqualTo(1);
    Sides meant = Sides.of(MEANT, events);
    assertThat(meant.marks).containsExactly(applied.get("number").asLong());
    assertThat(meant.after).containsExactly(FUNCTION);
    assertThat(Sides.of(OTHER, events).marks).isEmpty();
  }

  /** Somebody writes to the control topic who means ill. */
  private static void forge(KafkaSettings kafka) throws Exception {
    SplittableRandom random = new SplittableRandom(20319);
    Control.Builder control = Control.newBuilder().setTarget("all").setName("set-filter");
    List<byte[]> values = new ArrayList<>();
    values.add(null);
    for (String pattern : List.of("/(((a{100}){100}){100}){100}/", "[", "/(/", "0x", "nothing_*")) {
      control.setId(pattern + random.nextLong()).setArguments(List.of(pattern));
      values.add(ConfluentFrame.encode(control.build()));
    }
    control.setId("i".repeat(1 << 20));
    values.add(ConfluentFrame.encode(control.build()));
    byte[] whole = ConfluentFrame.encode(control.setId("id").build());
    for (int i = 0; i < 200; i++) {
      byte[] flipped = whole.clone();
      flipped[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
      values.add(i % 2 == 0 ? flipped : Long.toString(random.nextLong()).getBytes(UTF_8));
    }
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (byte[] value : values) {
        sent.add(producer.send(new ProducerRecord<>(Topics.standard().control(), value)));
      }
      for (Future<RecordMetadata> one : sent) {
        one.get();
      }
    }
  }

  /** The one answer to a command for the cores of one ISA. */
  private static JsonNode answer(EmbeddedBroker broker, String... command) throws Exception {
    List<String> line = new ArrayList<>(List.of("trace"));
    line.addAll(List.of(command));
    line.addAll(List.of("--target", "isa=riscv64", "--format", "json"));
    line.addAll(List.of("--bootstrap", broker.bootstrap()));
    Ran ran = Ran.retstack(line.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isIn(ExitCode.OK, ExitCode.FINDINGS);
    JsonNode answers = JSON.readTree(ran.out());
    assertThat(answers).hasSize(1);
    return answers.get(0);
  }

  private Process start(String bootstrap) throws Exception {
    Path script = RetstackScript.write(dir.resolve("bin"));
    String line =
        "exec retstack emulate --isolate --bootstrap %s --image %s --image %s -- dispatch 100000000"
            .formatted(bootstrap, MEANT, OTHER);
    return RetstackScript.line(script, dir, Map.of(), line)
        .redirectOutput(Files.createTempFile(dir, "out", ".txt").toFile())
        .start();
  }

  /** Waits for the next line of progress. */
  private static void awaitRecords(BufferedReader notes) throws Exception {
    StringBuilder said = new StringBuilder();
    for (String line = notes.readLine(); line != null; line = notes.readLine()) {
      if (line.contains(" records in ")) {
        return;
      }
      said.append(line).append('\n');
    }
    throw new AssertionError("it ended:\n" + said);
  }

  /** Functions that the core of an image entered before and after its marks. */
  private record Sides(List<Long> marks, Set<String> before, Set<String> after) {
    static Sides of(String image, Path trace) throws Exception {
      LoadedImage loaded = GuestImages.load(GuestImages.resolve(image));
      Sides sides = new Sides(new ArrayList<>(), new TreeSet<>(), new TreeSet<>());
      try (TraceFileReader reader = TraceFileReader.open(trace)) {
        for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
          Chunk chunk = entry.getChunk();
          if (chunk != null && chunk.getCore().equals(image + "-0")) {
            sides.add(loaded, Chunks.decode(chunk));
          }
        }
      }
      return sides;
    }

    private void add(LoadedImage image, RecordBatch records) {
      for (int i = 0; i < records.size(); i++) {
        if (records.kind[i] == RecordBatch.MARK) {
          marks.add(records.retP[i]);
        } else if (records.kind[i] == RecordBatch.ENTRY) {
          (marks.isEmpty() ? before : after)
              .add(image.elf().functionAt(records.selfPc[i]).map(Symbol::name).orElseThrow());
        }
      }
    }
  }
}
