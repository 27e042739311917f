package dev.retstack.service.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.export.GraphText;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.places.LogPlaces;
import dev.retstack.graph.places.Place;
import dev.retstack.graph.pyramid.JobPyramids;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Protocols;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * At any commit, the state that is restored from the topic is what a replay up to its offset gives.
 * Meanwhile members write, and the broker compacts.
 */
class ChangelogTest {
  private static final int STEPS = Integer.getInteger("retstack.commits", 8);
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));

  /**
   * Offsets of the topic's records that were read, by partition: at any time, and the last time.
   */
  private final Map<Integer, Set<Long>> seen = new HashMap<>();

  private final Map<Integer, Set<Long>> there = new HashMap<>();

  /** Commits that were compared. */
  private final Set<String> compared = new HashSet<>();

  /** Times that the topic changed while it was read. */
  private int overtaken;

  @ParameterizedTest
  @MethodSource(Protocols.SOME)
  void theStateOfACommitIsThatOfAReplay(GroupProtocol protocol) throws Exception {
    LiveBench bench = LiveBench.fresh(2, 12, protocol);
    PipelineConfig config = bench.config().but().checkpoints(Duration.ofMillis(300), 2).build();
    try (Pipeline _ = PipelineService.start(config)) {
      compareWhileSending(bench, 0, STEPS / 2);
    }
    try (Pipeline second = PipelineService.start(config)) { // another epoch
      compareWhileSending(bench, STEPS / 2, STEPS);
      bench.awaitEnded(second);
    }
    WAITS.await("the broker compacts", () -> compareNew(bench) >= 0 && gone() > 0);
    System.out.printf(
        "%s: %d commits compared with a replay, %d not; of %d records of the state, %d were"
            + " compacted away%n",
        protocol,
        compared.size(),
        overtaken,
        seen.values().stream().mapToInt(Set::size).sum(),
        gone());
    assertThat(compared).hasSizeGreaterThanOrEqualTo(STEPS);
    assertThat(overtaken).isLessThan(STEPS / 4 + 1);
  }

  private void compareWhileSending(LiveBench bench, int from, int to) throws Exception {
    for (int step = from; step < to; step++) {
      bench.produce((double) step / STEPS, (double) (step + 1) / STEPS);
      WAITS.await("a new commit that equals a replay", () -> compareNew(bench) > 0);
    }
  }

  private int gone() {
    return seen.keySet().stream()
        .mapToInt(p -> seen.get(p).size() - there.getOrDefault(p, Set.of()).size())
        .sum();
  }

  /** Restores what the topic has now; returns how many new commits it compared. */
  private int compareNew(LiveBench bench) throws Exception {
    Map<Integer, Map<String, byte[]>> now = new HashMap<>();
    there.clear();
    for (ConsumerRecord<byte[], byte[]> record :
        TopicReader.records(bench.kafka(), bench.topics().state())) {
      int partition = record.partition();
      seen.computeIfAbsent(partition, _ -> new HashSet<>()).add(record.offset());
      there.computeIfAbsent(partition, _ -> new HashSet<>()).add(record.offset());
      String prefix = bench.topics().prefix() + "/" + partition + "/";
      String key = new String(record.key(), UTF_8);
      if (key.startsWith(bench.topics().prefix() + "/image/")) {
        continue; // a claim, of no partition of events
      }
      assertThat(key).startsWith(prefix);
      Map<String, byte[]> of = now.computeIfAbsent(partition, _ -> new HashMap<>());
      String part = key.substring(prefix.length());
      if (record.value() == null) {
        of.remove(part);
      } else {
        of.put(part, record.value());
      }
    }
    int before = compared.size();
    for (Map.Entry<Integer, Map<String, byte[]>> one : now.entrySet()) {
      compare(bench, one.getKey(), one.getValue());
    }
    return compared.size() - before;
  }

  private void compare(LiveBench bench, int partition, Map<String, byte[]> records)
      throws Exception {
    CheckpointStore store =
        new CheckpointStore(bench.kafka(), bench.topics().state(), bench.topics().prefix());
    Checkpoint found;
    GraphState state;
    LogPlaces places;
    JobPyramids pyramids;
    try {
      found = store.of(partition, records);
      Map<String, byte[]> parts = new HashMap<>(found.parts());
      byte[] waits = parts.remove("waits");
      places = LogPlaces.takeFrom(parts, StateBudget.UNLIMITED);
      pyramids = JobPyramids.takeFrom(parts, StateBudget.UNLIMITED);
      if (parts.isEmpty() || (waits != null && waits.length != 4)) {
        return; // nothing is in it, or chunks wait for images: a replay has those
      }
      state =
          StateCopy.state(
              parts,
              GraphLimits.DEFAULT,
              TimeRules.DEFAULT,
              StateBudget.UNLIMITED,
              LateSymbols.NONE);
    } catch (IOException _) {
      overtaken++; // a member wrote and the broker compacted meanwhile; a new owner reads alone
      return;
    }
    if (compared.add(found.toString())) {
      var events = TopicReader.records(bench.kafka(), bench.topics().events());
      JobPyramids expected = new JobPyramids(StateBudget.UNLIMITED);
      assertThat(text(state))
          .as("%s", found)
          .isEqualTo(text(replay(bench, events, found, expected)));
      assertThat(pyramids.cores()).as("%s", found).isEqualTo(expected.cores());
      for (CoreKey core : expected.cores()) {
        assertThat(bytes(pyramids.of(core))).as("%s", found).isEqualTo(bytes(expected.of(core)));
      }
      sameChunks(places, events, found);
    }
  }

  /** Each chunk is in the index once, where it stands, and no other is. */
  private static void sameChunks(
      LogPlaces places, List<ConsumerRecord<byte[], byte[]>> events, Checkpoint to)
      throws Exception {
    LogPlaces expected = new LogPlaces(StateBudget.UNLIMITED);
    for (ConsumerRecord<byte[], byte[]> event : events) {
      if (event.partition() == to.partition() && event.offset() < to.nextOffset()) {
        Chunk chunk = ConfluentFrame.decode(event.value(), Chunk.class);
        expected.add(
            ChunkApplier.key(chunk),
            Place.of(
                event.offset(),
                chunk.getSequence(),
                chunk.getRecordsBefore(),
                chunk.getFirstTime(),
                chunk.getLastTime(),
                chunk.getKeyframeRecords() >= 0));
      }
    }
    assertThat(places.cores()).as("%s", to).containsExactlyInAnyOrderElementsOf(expected.cores());
    for (CoreKey core : expected.cores()) {
      assertThat(places.of(core)).as("%s", to).isEqualTo(expected.of(core));
    }
  }

  private static byte[] bytes(Pyramid pyramid) throws IOException {
    ByteOutput bytes = new ByteOutput(1 << 12);
    pyramid.writeTo(bytes);
    return bytes.take();
  }

  private static GraphState replay(
      LiveBench bench,
      List<ConsumerRecord<byte[], byte[]>> events,
      Checkpoint to,
      JobPyramids pyramids)
      throws Exception {
    ChunkApplier applier = new ChunkApplier(new GraphState());
    applier.state().pyramids(pyramids);
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
      text.append(ReportBuilder.of(state).in(Optional.of(unit)).build().resultHash()).append('\n');
    }
    state.cores().stream()
        .map(core -> core.key() + " " + core.digest() + " " + core.progress().records())
        .sorted()
        .forEach(core -> text.append(core).append('\n'));
    ReportBuilder.of(state).anomalies().stream()
        .map(Object::toString)
        .sorted()
        .forEach(text::append);
    GraphText.write(ReportBuilder.of(state).trees(), List.of(), text);
    return text.toString();
  }
}
