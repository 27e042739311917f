package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Profile;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.KafkaToTrace;
import dev.retstack.service.transfer.TraceProducer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A producer that sends a tenth of its chunks twice, many late, and poison between them: the job's
 * result, and what is published, are those of the chunks that came in order. Each late chunk and
 * each poison has a dead letter. {@code -Dretstack.late.chunks=N} sets how many are sent, {@code
 * -Dretstack.seed=S} which.
 */
class LateChunksTest {
  private static final int PARTITIONS = 3;
  private static final int CORES = 6;
  private static final int CHUNKS = Integer.getInteger("retstack.late.chunks", 1_000);
  private static final long SEED = Long.getLong("retstack.seed", 20264);

  /** One chunk of this many is followed by poison, in a short run too. */
  private static final int POISON = CHUNKS < 100_000 ? 100 : 10_000;

  private static final int LATE_MAX = 40;
  private static final long SPANS = 400;
  private static final Waits WAITS = new Waits(Duration.ofMinutes(CHUNKS < 10_000 ? 3 : 30));

  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  private record Sent(byte[] key, byte[] value, Chunk chunk, boolean poison) {}

  @Test
  void lateChunksAreLostAndDoublesAndPoisonChangeNothing(@TempDir Path dir) throws Exception {
    List<CoreScript> fleet = RandomFleet.of(SEED, CORES, CHUNKS * 90 / CORES);
    KafkaSettings kafka = KafkaSettings.of(TestBroker.bootstrap());
    Topics topics = new Topics(TestBroker.freshPrefix());
    PipelineConfig config =
        PipelineConfig.of(kafka)
            .but()
            .topics(topics)
            .groupId(topics.prefix())
            .partitions(PARTITIONS)
            .spanThreshold(SPANS)
            .checkpoints(Duration.ofMillis(200), 20)
            .build();
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, PARTITIONS);
    }
    List<Sent> all = sent(fleet, new SplittableRandom(SEED));
    int half = all.size() / 2;
    Published clean = new Published();
    List<Chunk> inOrder = new ArrayList<>();
    final int lateArrivals = sort(all, inOrder);
    Report expected = clean.of(fleet, inOrder);

    images(fleet, kafka, topics);
    produce(all.subList(0, half), kafka, topics);
    try (Pipeline first = PipelineService.start(config)) {
      WAITS.await(
          "chunks", () -> WAITS.await(first.progress()).stream().anyMatch(c -> c.chunks() > 20));
      WAITS.await(first.abort());
    }
    produce(all.subList(half, all.size()), kafka, topics);
    long start = System.nanoTime();
    try (Pipeline second = PipelineService.start(config)) {
      WAITS.await(second.awaitCoresEnded(fleet.size()));
      String hash = expected.resultHash();
      WAITS.await(
          "seed %d gives %s".formatted(SEED, hash),
          () ->
              WAITS.await(second.view()).report(Optional.empty(), false).resultHash().equals(hash));
      WAITS.await(second.stop());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long poison = all.stream().filter(Sent::poison).count();
    assertThat(lateArrivals).as("late chunks").isPositive();
    List<String> reasons = new ArrayList<>();
    for (byte[] letter : TopicReader.values(kafka, topics.deadLetters())) {
      reasons.add(ConfluentFrame.decode(letter, DeadLetter.class).getReason());
    }
    assertThat(reasons).hasSize((int) poison + lateArrivals);
    assertThat(reasons).filteredOn(r -> r.startsWith("came late: chunk ")).hasSize(lateArrivals);
    KafkaToTrace.Copied copied =
        KafkaToTrace.copy(kafka, topics, dir.resolve("late.avro"), TraceReplay.Progress.SILENT);
    assertThat(copied.refused()).isEqualTo(poison);
    GraphState replayed =
        TraceReplay.read(dir.resolve("late.avro"), TraceReplay.Progress.SILENT).state();
    assertThat(ReportBuilder.of(replayed).build().resultHash()).isEqualTo(expected.resultHash());
    PublishedFollower follower = PublishedFollower.of(kafka, topics);
    clean.compare(follower);
    sameTotals(expected, follower.profiles);
    int chunks = fleet.stream().mapToInt(core -> core.chunks().size()).sum();
    System.out.printf(
        "late chunks: seed %d, %d chunks of %d cores sent as %d records, %d of them poison;"
            + " %d came late; result as without these, second half in %.1f s%n",
        SEED, chunks, CORES, all.size(), poison, lateArrivals, seconds);
  }

  /** Finds the chunks that come behind no later one of their core; returns how many come late. */
  private static int sort(List<Sent> all, List<Chunk> inOrder) {
    Map<String, Long> highest = new HashMap<>();
    Set<Chunk> taken = new HashSet<>();
    int late = 0;
    for (Sent sent : all) {
      if (sent.poison()) {
        continue;
      }
      Chunk chunk = sent.chunk();
      if (chunk.getSequence() > highest.getOrDefault(chunk.getCore(), -1L)) {
        highest.put(chunk.getCore(), chunk.getSequence());
        inOrder.add(chunk);
        taken.add(chunk);
      } else if (!taken.contains(chunk)) {
        late++;
      }
    }
    return late;
  }

  /** What a fault-free run publishes. */
  private static final class Published implements GraphEvents {
    private final List<Tuple> anomalies = new ArrayList<>();
    private final List<Tuple> spans = new ArrayList<>();

    Report of(List<CoreScript> fleet, List<Chunk> inOrder) throws Exception {
      GraphState state = new GraphState();
      state.events(this);
      ChunkApplier applier = new ChunkApplier(state);
      for (CoreScript core : fleet) {
        applier.image(core.image());
      }
      for (Chunk chunk : inOrder) {
        applier.apply(chunk);
      }
      return ReportBuilder.of(state).build();
    }

    void compare(PublishedFollower follower) {
      same(
          anomalies,
          follower.anomalies.stream()
              .map(a -> tuple(a.getCore(), a.getKind(), a.getTime(), a.getMessage(), a.getStack()))
              .toList());
      same(
          spans,
          follower.spans.stream()
              .map(
                  s ->
                      tuple(
                          s.getCore(),
                          s.getSelfpc(),
                          s.getEnter(),
                          s.getExit(),
                          s.getSelf(),
                          s.getDepth(),
                          s.getEnding()))
              .toList());
    }

    /** The same ones as often, in any order; a long run has millions. */
    private static void same(List<Tuple> expected, List<Tuple> got) {
      Map<Tuple, Integer> left = new HashMap<>();
      got.forEach(one -> left.merge(one, 1, Integer::sum));
      expected.forEach(one -> left.merge(one, -1, Integer::sum));
      left.values().removeIf(n -> n == 0);
      assertThat(left).as("published too often, or, below 0, not often enough").isEmpty();
      assertThat(got).hasSameSizeAs(expected);
    }

    @Override
    public long threshold() {
      return SPANS;
    }

    @Override
    public void finished(FinishedCall call) {
      spans.add(
          tuple(
              call.core().core(),
              SymbolTable.hex(call.selfPc()),
              call.enter(),
              call.exit(),
              call.self(),
              call.level(),
              call.ending().name()));
    }

    @Override
    public void anomaly(CoreGraph core, Anomaly found) {
      AnomalyRow row = AnomalyRow.of(core, found);
      anomalies.add(tuple(row.core(), row.kind().name(), row.time(), row.message(), row.stack()));
    }
  }

  /** Totals of functions, added up over the partitions. */
  private static void sameTotals(Report expected, Map<String, Profile> rows) {
    Map<List<Object>, long[]> sums = new HashMap<>();
    for (Profile row : rows.values()) {
      if (row.getCaller() == null) {
        long[] sum =
            sums.computeIfAbsent(List.of(row.getImage(), row.getSelfpc()), _ -> new long[4]);
        sum[0] += row.getCalls();
        sum[1] += row.getFinished();
        sum[2] += row.getTotal();
        sum[3] += row.getSelf();
      }
    }
    assertThat(sums).hasSize(expected.functions().size());
    for (FunctionRow row : expected.functions()) {
      assertThat(sums.get(List.of(row.imageId(), SymbolTable.hex(row.selfPc()))))
          .as(row.name())
          .containsExactly(row.calls(), row.finished(), row.total(), row.self());
    }
  }

  /** The chunks of all cores in the order in which they are sent, and what is sent between them. */
  private static List<Sent> sent(List<CoreScript> fleet, SplittableRandom random) {
    record Placed(double place, Sent sent) {}
    List<Placed> placed = new ArrayList<>();
    for (CoreScript core : fleet) {
      byte[] key = core.core().getBytes(UTF_8);
      for (int i = 0; i < core.chunks().size(); i++) {
        byte[] value = ConfluentFrame.encode(core.chunks().get(i));
        int times = random.nextInt(10) == 0 ? 2 : 1;
        for (int n = 0; n < times; n++) {
          boolean isLast = i == core.chunks().size() - 1; // it would end its core too early
          int late = random.nextInt(10) == 0 && !isLast ? random.nextInt(LATE_MAX) : 0;
          placed.add(new Placed(i + late, new Sent(key, value, core.chunks().get(i), false)));
        }
        if (random.nextInt(POISON) == 0) {
          placed.add(new Placed(i, new Sent(key, poison(value, random), null, true)));
        }
      }
    }
    placed.sort(Comparator.comparingDouble(Placed::place));
    return placed.stream().map(Placed::sent).toList();
  }

  /** Garbage, a part of a chunk, or a chunk with one bit changed. */
  private static byte[] poison(byte[] value, SplittableRandom random) {
    return switch (random.nextInt(3)) {
      case 0 -> {
        byte[] garbage = new byte[random.nextInt(200)];
        random.nextBytes(garbage);
        yield garbage;
      }
      case 1 -> Arrays.copyOf(value, random.nextInt(value.length));
      default -> {
        byte[] changed = value.clone();
        changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
        yield changed;
      }
    };
  }

  private static void images(List<CoreScript> fleet, KafkaSettings kafka, Topics topics)
      throws Exception {
    try (TraceProducer producer = new TraceProducer(kafka, topics)) {
      for (CoreScript core : fleet) {
        producer.image(core.image());
      }
    }
  }

  private static void produce(List<Sent> records, KafkaSettings kafka, Topics topics)
      throws Exception {
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      List<Future<?>> acks = new ArrayList<>();
      for (Sent record : records) {
        var ack =
            producer.send(new ProducerRecord<>(topics.events(), record.key(), record.value()));
        if (acks.size() < CORES * 4) {
          ack.get(); // a first batch into a new topic is waited for (KAFKA-15591)
        }
        acks.add(ack);
      }
      for (Future<?> ack : acks) {
        ack.get();
      }
    }
  }
}
