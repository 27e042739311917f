package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.fleet.publish.KafkaChunkSink;
import dev.retstack.fleet.publish.SinkWaits;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kafka goes away in the middle of a run: cores run on while there is room for their chunks, then
 * stand still, counted, and go on where they were when Kafka is back. The result is that of a run
 * in which nothing happened.
 */
@Timeout(240)
@ChaosRow
class BrokerOutageTest {
  private static final int THREADS = 2;
  private static final List<String> IMAGES =
      List.of("zoo-x86_64-fentry", "zoo-aarch64-mcount", "zoo-riscv64-mcount", "zoo-s390x-fentry");

  /** Half of the memory is the room for chunks: about 40,000 records of the plain codec fill it. */
  private static final Map<String, Object> LITTLE_ROOM =
      Map.of("buffer.memory", 2 << 20, "batch.size", 32 << 10);

  /** Room for all that is ever sent, and a producer that forgets the cluster after 0.2 s. */
  private static final Map<String, Object> FORGETFUL =
      Map.of(
          "buffer.memory",
          256 << 20,
          "batch.size",
          32 << 10,
          "max.block.ms",
          2_000,
          "metadata.recovery.rebootstrap.trigger.ms",
          200);

  @TempDir private static Path dir;
  private static BrokerProcess broker;
  private static Report undisturbed;

  private static List<CoreSpec> cores() throws Exception {
    List<CoreSpec> cores = new ArrayList<>();
    for (String name : IMAGES) {
      LoadedImage image = LoadedImage.load(GuestImages.resolve(name));
      LinuxOptions w200 = LinuxOptions.of("zoo").withArguments(List.of("zoo", "w200", "6000"));
      cores.add(new CoreSpec(name, image, CoreOptions.of(w200).withRecordsPerChunk(1_000)));
    }
    return cores;
  }

  private static FleetOptions options() throws Exception {
    return FleetOptions.standard()
        .withThreads(THREADS)
        .withCodec(Codecs.byId("records"))
        .withProgressInterval(Duration.ofMillis(20));
  }

  /** A broker for all outages, and what the same cores give without Kafka. */
  @BeforeAll
  static void start() throws Exception {
    broker = BrokerProcess.start(dir.resolve("broker"), 0);
    Path file = dir.resolve("undisturbed.avro");
    try (FileChunkSink sink = FileChunkSink.open(file)) {
      Fleet.run(cores(), options(), sink, FleetListener.NONE);
    }
    undisturbed =
        ReportBuilder.of(TraceReplay.read(file, TraceReplay.Progress.SILENT).state()).build();
  }

  @AfterAll
  static void stop() throws Exception {
    if (broker != null) {
      broker.close();
    }
  }

  /** Tells when the fleet has sent something, and when it stands still. */
  private static final class Onlooker implements FleetListener {
    final CompletableFuture<FleetProgress> sending = new CompletableFuture<>();
    final CompletableFuture<FleetProgress> standing = new CompletableFuture<>();
    private FleetProgress last = new FleetProgress(0, 0, 0, 0, 0, 0, 0, SinkWaits.NONE);
    private int stillFor;

    /** Nothing more comes. */
    void over(Throwable error) {
      Throwable why = error == null ? new AssertionError("it ended without a stop") : error;
      sending.completeExceptionally(why);
      standing.completeExceptionally(why);
    }

    @Override
    public void progress(FleetProgress progress) {
      if (progress.records() > 0) {
        sending.complete(progress);
      }
      boolean still = progress.waits().now() == THREADS && progress.equals(at(last, progress));
      stillFor = still ? stillFor + 1 : 0;
      if (stillFor == 3) { // every thread in a wait that does not end, and no record more
        standing.complete(progress);
      }
      last = progress;
    }
  }

  /** A report as it would be now if nothing but time had passed. */
  private static FleetProgress at(FleetProgress then, FleetProgress now) {
    SinkWaits waits = new SinkWaits(then.waits().now(), then.waits().times(), now.waits().nanos());
    return new FleetProgress(
        then.cores(),
        then.ended(),
        then.instructions(),
        then.records(),
        then.chunks(),
        then.overruns(),
        then.unhijackable(),
        waits);
  }

  /** Begins when the fleet sends; ends with a broker that serves at the same address. */
  private interface Outage {
    void happen(Onlooker fleet) throws Exception;
  }

  private void survives(String prefix, Map<String, Object> producer, Outage outage)
      throws Exception {
    KafkaSettings kafka = KafkaSettings.of(broker.bootstrap());
    Topics topics = new Topics(prefix);
    new KafkaLink(kafka, topics).ensureTopics();
    PipelineConfig config = PipelineConfig.of(kafka).but().topics(topics).build();
    try (Pipeline pipeline = PipelineService.start(config);
        ChunkSink sink = open(kafka, topics, producer)) {
      Onlooker onlooker = new Onlooker();
      CompletableFuture<List<CoreResult>> fleet = new CompletableFuture<>();
      Thread.ofPlatform().daemon().start(() -> run(sink, onlooker, fleet));
      var _ = fleet.whenComplete((_, error) -> onlooker.over(error));
      onlooker.sending.get(1, TimeUnit.MINUTES);
      outage.happen(onlooker);
      assertThat(fleet.get(2, TimeUnit.MINUTES)).hasSize(IMAGES.size()).allMatch(CoreResult::ok);
      assertThat(sink.waits().now()).isZero();
      assertThat(sink.waits().times()).isPositive();
      pipeline.awaitCoresEnded(IMAGES.size()).toCompletableFuture().get(2, TimeUnit.MINUTES);
      Report report =
          pipeline
              .view()
              .toCompletableFuture()
              .get(1, TimeUnit.MINUTES)
              .report(Optional.empty(), false);
      assertThat(report.records()).isEqualTo(undisturbed.records());
      assertThat(report.lost()).isZero();
      assertThat(report.resultHash()).isEqualTo(undisturbed.resultHash());
    }
  }

  private static ChunkSink open(KafkaSettings kafka, Topics topics, Map<String, Object> producer)
      throws Exception {
    Map<String, Object> all = new java.util.HashMap<>(producer);
    all.put("bootstrap.servers", kafka.bootstrap());
    return KafkaChunkSink.open(all, topics);
  }

  private static void run(
      ChunkSink sink, Onlooker onlooker, CompletableFuture<List<CoreResult>> results) {
    try {
      results.complete(Fleet.run(cores(), options(), sink, onlooker));
    } catch (Exception e) {
      results.completeExceptionally(e);
    }
  }

  private static void killAndStart(Onlooker fleet) throws Exception {
    int port = Integer.parseInt(broker.bootstrap().replaceFirst(".*:", ""));
    ProcessHandle child = ProcessHandle.of(broker.pid()).orElseThrow();
    child.destroyForcibly();
    child.onExit().get(1, TimeUnit.MINUTES);
    fleet.standing.get(1, TimeUnit.MINUTES);
    broker = BrokerProcess.start(dir.resolve("broker"), port);
  }

  @Test
  void aBrokerThatIsKilledAndStartedAgain() throws Exception {
    survives("killed", LITTLE_ROOM, BrokerOutageTest::killAndStart);
  }

  /**
   * After minutes without Kafka a producer forgets where the topics are, and refuses what it is
   * given although there is room; here after 0.2 s.
   */
  @Test
  void aBrokerThatIsAwayForSoLongThatTheProducerForgetsIt() throws Exception {
    survives("forgotten", FORGETFUL, BrokerOutageTest::killAndStart);
  }

  @Test
  void aBrokerThatHangsForAWhile() throws Exception {
    survives(
        "hangs",
        LITTLE_ROOM,
        fleet -> {
          RetstackScript.signal("STOP", broker.pid());
          try {
            fleet.standing.get(1, TimeUnit.MINUTES);
          } finally {
            RetstackScript.signal("CONT", broker.pid());
          }
        });
  }
}
