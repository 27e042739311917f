package dev.retstack.service.support;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.LiveClient;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.transfer.TraceProducer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Topics of their own on the module's broker, and a small random fleet to fill them. */
public final class LiveBench {
  /** Partitions of its topics. */
  public static final int PARTITIONS = 3;

  /**
   * Of the state topic: what is older than a moment is compacted all the time, so that every test
   * restores a state from a compacted log.
   */
  private static final Map<String, String> COMPACTED =
      Map.of(
          "segment.ms", "300",
          "min.cleanable.dirty.ratio", "0.01",
          "delete.retention.ms", "1000");

  private static final long SEED = 20267;
  private static final Duration WAIT = Duration.ofMinutes(3);

  private final List<CoreScript> fleet;
  private final int partitions;
  private final KafkaSettings kafka;
  private final Topics topics;

  private LiveBench(KafkaSettings kafka, int partitions, int cores) {
    this.kafka = kafka;
    this.partitions = partitions;
    this.fleet = RandomFleet.of(SEED, cores, 2_000);
    this.topics = new Topics(TestBroker.freshPrefix());
  }

  /** New topics. */
  public static LiveBench fresh() {
    return fresh(PARTITIONS, 5, GroupProtocol.CLASSIC);
  }

  /** New topics of so many partitions, for so many cores, and members that speak this protocol. */
  public static LiveBench fresh(int partitions, int cores, GroupProtocol protocol) {
    try {
      return at(TestBroker.bootstrap(), partitions, cores, protocol);
    } catch (Exception e) {
      throw new AssertionError("no broker", e);
    }
  }

  /** New topics at the broker of this address. */
  public static LiveBench at(String bootstrap) {
    return at(bootstrap, PARTITIONS, 5, GroupProtocol.CLASSIC);
  }

  private static LiveBench at(String bootstrap, int partitions, int cores, GroupProtocol protocol) {
    try {
      KafkaSettings kafka = KafkaSettings.of(bootstrap).withGroupProtocol(protocol);
      LiveBench bench = new LiveBench(kafka, partitions, cores);
      try (TopicAdmin admin = new TopicAdmin(bench.kafka, Duration.ofSeconds(60))) {
        admin.ensure(bench.topics, partitions);
      }
      OwnBroker.set(bootstrap, bench.topics.state(), COMPACTED);
      return bench;
    } catch (Exception e) {
      throw new AssertionError("no broker", e);
    }
  }

  /** From now on the images topic is compacted as soon as there is anything to compact. */
  public void compactImages() throws Exception {
    OwnBroker.set(kafka.bootstrap(), topics.images(), COMPACTED);
  }

  /** A member of these topics. */
  public PipelineConfig config() {
    return PipelineConfig.of(kafka)
        .but()
        .topics(topics)
        .groupId(topics.prefix())
        .partitions(partitions)
        .checkpoints(Duration.ofMillis(300), 20)
        .build();
  }

  public List<CoreScript> fleet() {
    return fleet;
  }

  public KafkaSettings kafka() {
    return kafka;
  }

  public Topics topics() {
    return topics;
  }

  /** Sends all that the fleet has. */
  public void produceAll() throws Exception {
    produce(0, 1);
  }

  /** Sends the chunks of each core from one part of its way to another, core by turns. */
  public void produce(double from, double to) throws Exception {
    try (TraceProducer producer = new TraceProducer(kafka, topics)) {
      for (CoreScript core : fleet) {
        producer.image(core.image());
      }
      int longest = fleet.stream().mapToInt(core -> core.chunks().size()).max().orElseThrow();
      for (int i = 0; i < longest; i++) {
        for (CoreScript core : fleet) {
          int size = core.chunks().size();
          if (i >= (int) (size * from) && i < (int) (size * to)) {
            producer.chunk(core.chunks().get(i));
          }
        }
      }
      producer.flush();
    }
  }

  /** Returns when all cores are in the state. */
  public void awaitEnded(Pipeline pipeline) throws Exception {
    pipeline
        .awaitCoresEnded(fleet.size())
        .toCompletableFuture()
        .get(WAIT.toSeconds(), TimeUnit.SECONDS);
  }

  /** What {@code /metrics} says. */
  public Scraped scrape(Pipeline pipeline) throws Exception {
    try (LiveClient client = new LiveClient(pipeline.httpUri())) {
      return new Scraped(client.get("metrics", Map.of()));
    }
  }

  /** Scrapes until all partitions are open, and all that was sent is in checkpoints. */
  public Scraped awaitRest(Pipeline pipeline) throws Exception {
    return awaitScrape(
        pipeline,
        page ->
            page.sum("retstack_partition_open") == partitions
                && page.sum("retstack_lag_chunks") == 0
                && page.sum("retstack_checkpoint_behind_chunks") == 0);
  }

  /** Scrapes until it holds. */
  public Scraped awaitScrape(Pipeline pipeline, Predicate<Scraped> condition) throws Exception {
    long began = System.nanoTime();
    try (LiveClient client = new LiveClient(pipeline.httpUri())) {
      Scraped page = new Scraped(client.get("metrics", Map.of()));
      while (!condition.test(page)) {
        Waits.pause(began, WAIT, "nothing scraped is what was waited for");
        page = new Scraped(client.get("metrics", Map.of()));
      }
      return page;
    }
  }
}
