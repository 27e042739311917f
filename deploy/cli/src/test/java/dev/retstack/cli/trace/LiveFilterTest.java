package dev.retstack.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.transfer.KafkaToTrace;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A filter for one ISA of a running mixed fleet, through a real broker: what stands in the events
 * topic before it, at it and after it, core by core. Cores that are not meant record what they
 * record in a run without any command.
 */
class LiveFilterTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TARGET = "isa=riscv64";
  private static final List<String> WANTED = List.of("dispatch_apply", "dispatch_rotate");
  private static final List<String> ALL =
      List.of(
          "dispatch_add",
          "dispatch_apply",
          "dispatch_mix",
          "dispatch_pick",
          "dispatch_rotate",
          "dispatch_twice");

  @TempDir private Path dir;

  @Test
  void aFilterForOneIsaChangesItsCoresFromTheirMarkOnAndNoOthers() throws Exception {
    List<CoreSpec> cores = LiveFleet.cores();
    FleetOptions options = LiveFleet.options();
    Path live = dir.resolve("live.avro");
    JsonNode answers;
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
        Shutdown shutdown = Shutdown.install()) {
      KafkaLink link = new KafkaLink(KafkaSettings.of(broker.bootstrap()), Topics.standard());
      link.ensureTopics();
      LiveFleet fleet = LiveFleet.start(cores, options, link, silent(), shutdown);
      try (FleetWatch watch =
          FleetWatch.open(link, options.session(), cores.stream().map(CoreSpec::name).toList())) {
        watch.awaitFleet();
        watch.awaitRecords();
        Ran ran = setFilter(broker.bootstrap());
        assertThat(ran.code()).as(ran.err()).isZero();
        answers = JSON.readTree(ran.out());
        watch.awaitRecords(); // of each core, since
      } finally {
        fleet.stop();
      }
      KafkaToTrace.copy(link.settings(), link.topics(), live, TraceReplay.Progress.SILENT);
    }

    Map<String, List<Chunk>> streams = chunks(live);
    assertThat(streams.keySet()).containsAll(cores.stream().map(CoreSpec::name).toList());
    List<CoreSpec> meant = cores.stream().filter(LiveFilterTest::isMeant).toList();
    assertThat(meant).hasSize(2);
    assertThat(answers).hasSize(2);
    for (CoreSpec core : meant) {
      JsonNode answer = answer(answers, core);
      Sides sides = Sides.of(core, streams.get(core.name()));
      assertThat(answer.get("status").asText()).isEqualTo("applied");
      assertThat(answer.get("sites").asInt()).isEqualTo(WANTED.size());
      assertThat(sides.markTimes).containsExactly(answer.get("time").asLong());
      assertThat(sides.commands).containsExactly(answer.get("number").asLong());
      assertThat(sides.before).containsAll(ALL);
      assertThat(sides.after).containsExactlyElementsOf(WANTED);
    }
    compareWithUndisturbed(cores.stream().filter(core -> !isMeant(core)).toList(), streams);
  }

  private static Terminal silent() {
    PrintStream nowhere =
        new PrintStream(new ByteArrayOutputStream(), false, StandardCharsets.UTF_8);
    return new Terminal(nowhere, nowhere, false, Map.of());
  }

  private static Ran setFilter(String bootstrap) {
    return Ran.retstack(
        "trace",
        "set-filter",
        WANTED.getFirst(),
        WANTED.getLast(),
        "--target",
        TARGET,
        "--format",
        "json",
        "--bootstrap",
        bootstrap);
  }

  private static boolean isMeant(CoreSpec core) {
    return core.image().isa().name().equals("riscv64");
  }

  private static JsonNode answer(JsonNode answers, CoreSpec core) {
    for (JsonNode answer : answers) {
      if (answer.get("core").asText().equals(core.name())) {
        return answer;
      }
    }
    throw new AssertionError("no answer of " + core.name());
  }

  /** What a core recorded before its mark and after it; times never fall. */
  private static final class Sides {
    private final Set<String> before = new TreeSet<>();
    private final Set<String> after = new TreeSet<>();
    private final List<Long> markTimes = new ArrayList<>();
    private final List<Long> commands = new ArrayList<>();

    static Sides of(CoreSpec core, List<Chunk> chunks) throws Exception {
      Sides sides = new Sides();
      LongSet entered = new LongOpenHashSet();
      long time = 0;
      for (Chunk chunk : chunks) {
        RecordBatch records = Chunks.decode(chunk);
        for (int i = 0; i < records.size(); i++) {
          if (records.time[i] < time) {
            throw new AssertionError("time falls to %d in %s".formatted(records.time[i], chunk));
          }
          time = records.time[i];
          if (records.kind[i] == RecordBatch.MARK) {
            sides.markTimes.add(time);
            sides.commands.add(records.retP[i]);
            sides.before.addAll(names(core, entered));
            entered.clear();
          } else if (records.kind[i] == RecordBatch.ENTRY) {
            entered.add(records.selfPc[i]);
          }
        }
      }
      sides.after.addAll(names(core, entered));
      return sides;
    }

    private static List<String> names(CoreSpec core, LongSet selfPcs) {
      return selfPcs
          .longStream()
          .mapToObj(pc -> core.image().elf().functionAt(pc).map(Symbol::name).orElseThrow())
          .toList();
    }
  }

  /** The same cores for the same time, and nobody commands. */
  private void compareWithUndisturbed(List<CoreSpec> cores, Map<String, List<Chunk>> streams)
      throws Exception {
    Path quiet = dir.resolve("quiet.avro");
    List<CoreSpec> again =
        cores.stream()
            .map(
                core -> {
                  long end = streams.get(core.name()).getLast().getLastTime() + 1;
                  return new CoreSpec(
                      core.name(), core.image(), core.options().withInstructionLimit(end));
                })
            .toList();
    try (ChunkSink sink = FileChunkSink.open(quiet)) {
      Fleet.run(again, FleetOptions.standard(), sink, FleetListener.NONE);
    }
    Map<String, List<Chunk>> undisturbed = chunks(quiet);
    for (CoreSpec core : cores) {
      Cursor other = new Cursor(undisturbed.get(core.name()));
      long at = 0;
      for (Chunk chunk : streams.get(core.name())) {
        RecordBatch records = Chunks.decode(chunk);
        for (int from = 0; from < records.size(); ) {
          int end = Math.min(records.size(), from + other.left());
          assertThat(part(records, from, end))
              .as("records from %d on of %s", at + from, core.name())
              .isEqualTo(other.take(end - from));
          from = end;
        }
        at += records.size();
      }
      assertThat(at).as(core.name()).isPositive();
    }
  }

  private static RecordBatch part(RecordBatch records, int from, int end) {
    RecordBatch part = new RecordBatch(end - from);
    part.addAll(records, from, end);
    return part;
  }

  /** Goes through the records of chunks. */
  private static final class Cursor {
    private final Iterator<Chunk> chunks;
    private RecordBatch records = new RecordBatch(0);
    private int at;

    Cursor(List<Chunk> chunks) {
      this.chunks = chunks.iterator();
    }

    /** Records that can be taken at once. */
    int left() throws Exception {
      while (at == records.size()) {
        records = Chunks.decode(chunks.next());
        at = 0;
      }
      return records.size() - at;
    }

    RecordBatch take(int count) {
      at += count;
      return part(records, at - count, at);
    }
  }

  /** The chunks of each core, found to be in sequence. */
  private static Map<String, List<Chunk>> chunks(Path trace) throws Exception {
    Map<String, List<Chunk>> chunks = new TreeMap<>();
    try (TraceFileReader reader = TraceFileReader.open(trace)) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        Chunk chunk = entry.getChunk();
        if (chunk != null) {
          List<Chunk> all = chunks.computeIfAbsent(chunk.getCore(), _ -> new ArrayList<>());
          assertThat(chunk.getSequence()).isEqualTo(all.size());
          all.add(chunk);
        }
      }
    }
    return chunks;
  }
}
