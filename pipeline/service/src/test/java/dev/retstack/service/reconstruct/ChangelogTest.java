package dev.retstack.service.reconstruct;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.export.GraphText;
import dev.retstack.service.ingest.GroupProtocol;
import dev.retstack.service.support.CoreScript;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TopicReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** At any commit, what stands in the state topic is what a replay up to its offset gives. */
class ChangelogTest {
  private static final int COMMITS = 100;

  /** What was committed: the records of a partition's state as they were last then. */
  private record Commit(int partition, Map<String, byte[]> records) {}

  @ParameterizedTest
  @EnumSource
  void theStateOfACommitIsThatOfAReplay(GroupProtocol protocol) throws Exception {
    long seed = Long.getLong("retstack.seed", System.nanoTime() & 0xffffff);
    LiveBench bench = LiveBench.fresh(2, 12, protocol);
    PipelineConfig config = bench.config().but().checkpoints(Duration.ofMillis(300), 2).build();
    bench.produce(0, 0.5);
    try (Pipeline first = PipelineService.start(config)) {
      bench.produce(0.5, 0.8);
      bench.awaitScrape(first, page -> page.sum("retstack_checkpoints_total") > 5);
    }
    try (Pipeline second = PipelineService.start(config)) { // another epoch
      bench.produce(0.8, 1);
      bench.awaitEnded(second);
    }

    List<Commit> commits = commits(bench);
    Collections.shuffle(commits, new Random(seed));
    var events = TopicReader.records(bench.kafka(), bench.topics().events());
    CheckpointStore store =
        new CheckpointStore(bench.kafka(), bench.topics().state(), bench.topics().prefix());
    int compared = 0;
    for (Commit commit : commits) {
      Checkpoint found = store.of(commit.partition, commit.records);
      Map<String, byte[]> parts = new HashMap<>(found.parts());
      byte[] waits = parts.remove("waits");
      if (compared < COMMITS && !parts.isEmpty() && (waits == null || waits.length == 4)) {
        GraphState state =
            StateCopy.state(parts, GraphLimits.DEFAULT, TimeRules.DEFAULT, StateBudget.UNLIMITED);
        assertThat(text(state))
            .as("-Dretstack.seed=%d, %s", seed, found)
            .isEqualTo(text(replay(bench, events, found)));
        compared++;
      }
    }
    System.out.printf(
        "%s: %d commits, %d compared with a replay, -Dretstack.seed=%d%n",
        protocol, commits.size(), compared, seed);
    assertThat(compared).isGreaterThan(20);
  }

  /** What each transaction left; the record that says where the state stands is its last. */
  private static List<Commit> commits(LiveBench bench) {
    List<Commit> commits = new ArrayList<>();
    Map<Integer, Map<String, byte[]>> now = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> record :
        TopicReader.records(bench.kafka(), bench.topics().state())) {
      String prefix = bench.topics().prefix() + "/" + record.partition() + "/";
      String key = new String(record.key(), UTF_8);
      assertThat(key).startsWith(prefix);
      Map<String, byte[]> of = now.computeIfAbsent(record.partition(), _ -> new HashMap<>());
      String part = key.substring(prefix.length());
      if (record.value() == null) {
        of.remove(part);
      } else {
        of.put(part, record.value());
      }
      if (part.equals("at")) {
        commits.add(new Commit(record.partition(), new HashMap<>(of)));
      }
    }
    return commits;
  }

  private static GraphState replay(
      LiveBench bench, List<ConsumerRecord<byte[], byte[]>> events, Checkpoint to)
      throws Exception {
    ChunkApplier applier = new ChunkApplier(new GraphState());
    for (CoreScript core : bench.fleet()) {
      applier.image(core.image());
    }
    for (ConsumerRecord<byte[], byte[]> event : events) {
      if (event.partition() == to.partition() && event.offset() < to.nextOffset()) {
        var _ = applier.apply(ConfluentFrame.decode(event.value(), Chunk.class));
      }
    }
    return applier.state();
  }

  private static String text(GraphState state) throws IOException {
    StringBuilder text = new StringBuilder();
    for (ClockUnit unit : ClockUnit.values()) {
      text.append(state.report(unit).resultHash()).append('\n');
    }
    state.cores().stream()
        .map(core -> core.key() + " " + core.digest() + " " + core.progress().records())
        .sorted()
        .forEach(core -> text.append(core).append('\n'));
    state.anomalies().stream().map(Object::toString).sorted().forEach(text::append);
    GraphText.write(state.trees(), List.of(), text);
    return text.toString();
  }
}
