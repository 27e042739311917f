package dev.retstack.service.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineService;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.metrics.Samples;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.reconstruct.Checkpoint;
import dev.retstack.service.reconstruct.KafkaLedger;
import dev.retstack.service.reconstruct.Ledger;
import dev.retstack.service.reconstruct.MemberShares;
import dev.retstack.service.reconstruct.PartitionGraph;
import dev.retstack.service.reconstruct.PartitionMeasure;
import dev.retstack.service.reconstruct.PartitionPeers;
import dev.retstack.service.reconstruct.PartitionSettings;
import dev.retstack.service.reconstruct.Partitions;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The connector sets the offsets of all partitions that it was given together at once, and forgets
 * all of them, without a word, where one cannot be set. Its partitions are really opened here; when
 * that is told, or where they begin, is what the test decides.
 */
class ConnectorSeekTest {
  private static final Waits WAITS = new Waits(Duration.ofSeconds(60));
  private static final Duration LOOK = Duration.ofSeconds(2);

  private final ActorTestKit kit = ActorTestKit.create();
  private final LiveBench bench = LiveBench.fresh();
  private final GroupMember member = new GroupMember();
  private final CountDownLatch opened = new CountDownLatch(LiveBench.PARTITIONS);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Meters meters = new Meters();
  private boolean refusesOnce;
  private ImageFeed images;
  private ImageReader reader;

  /** A ledger in Kafka whose owner hears late that it is open. */
  private final class LateLedger implements Ledger {
    private final Ledger kafka;
    private final int partition;
    private final boolean beginsNowhere;
    private final GroupMember as = new GroupMember();
    private boolean refused = !refusesOnce;

    LateLedger(int partition, boolean beginsNowhere) {
      this.partition = partition;
      this.beginsNowhere = beginsNowhere;
      this.kafka =
          new KafkaLedger(bench.kafka(), bench.topics(), bench.topics().prefix(), partition, as);
    }

    @Override
    public Checkpoint open() throws Exception {
      as.joined(member.commitsAs(partition));
      as.given(Set.of(partition));
      Checkpoint found = kafka.open();
      opened.countDown();
      gate.await();
      return beginsNowhere
          ? new Checkpoint(found.partition(), found.epoch(), -1, found.parts())
          : found;
    }

    @Override
    public Checkpoint goBack() throws Exception {
      return kafka.goBack();
    }

    @Override
    public Found read(long[] offsets) throws Exception {
      return kafka.read(offsets);
    }

    @Override
    public void publish(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
      kafka.publish(records);
    }

    @Override
    public long commit(Checkpoint checkpoint) throws Exception {
      ConsumerGroupMetadata now = member.commitsAs(partition);
      as.joined(refused ? now : before(now));
      refused = true;
      return kafka.commit(checkpoint);
    }

    @SuppressWarnings("removal") // there is no other way to a generation of before
    private static ConsumerGroupMetadata before(ConsumerGroupMetadata now) {
      return new ConsumerGroupMetadata(
          now.groupId(), now.generationId() - 1, now.memberId(), now.groupInstanceId());
    }

    @Override
    public void close() {
      kafka.close();
    }
  }

  @BeforeEach
  void produce() throws Exception {
    bench.produceAll();
  }

  @AfterEach
  void end() {
    gate.countDown();
    // a consumer that closes hands its partitions over first, and waits for them
    ActorTestKit.shutdown(kit.system(), WAITS.patience());
    if (images != null) {
      images.close();
    }
    if (reader != null) {
      reader.close();
    }
  }

  private ActorRef<Partitions.Command> partitions(int nowhere) throws Exception {
    reader = new ImageReader(bench.kafka(), bench.topics().images(), () -> {});
    ActorRef<ImageRegistry.Command> registry =
        kit.spawn(ImageRegistry.create(1 << 20, 1 << 20, reader, meters.images()));
    try (TopicAdmin admin = new TopicAdmin(bench.kafka(), Duration.ofSeconds(60))) {
      images =
          new ImageFeed(
              bench.kafka(),
              admin.endOffsets(bench.topics().images()),
              registry,
              meters.images(),
              () -> {});
    }
    images.start();
    ActorRef<CoreWatch.Command> watch = kit.spawn(CoreWatch.create());
    PartitionSettings settings =
        new PartitionSettings(
            bench.topics(),
            Duration.ofMillis(300),
            20,
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            OptionalLong.empty(),
            GraphLimits.DEFAULT,
            Duration.ZERO,
            TimeRules.DEFAULT);
    return kit.spawn(
        Partitions.create(
            p ->
                PartitionGraph.create(
                    p,
                    settings,
                    () -> new LateLedger(p, p == nowhere),
                    new PartitionPeers(
                        registry,
                        watch,
                        meters.partition(p),
                        MemberShares.ofThisMachine(StateBudget.UNLIMITED))),
            p -> watch.tell(new CoreWatch.Left(p))));
  }

  private EventStream stream(ActorRef<Partitions.Command> partitions, Duration feedWait) {
    return new EventStream(
        kit.system(),
        bench.kafka(),
        bench.topics().events(),
        bench.topics().prefix(),
        partitions,
        member,
        feedWait);
  }

  @Test
  void oneThatIsTakenBackWhileThreeAreOpenedDoesNotMakeTheOthersStandStill() throws Exception {
    ActorRef<Partitions.Command> partitions = partitions(-1);
    EventStream.Running running = stream(partitions, Duration.ofMinutes(5)).run();
    assertThat(opened.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(member.toOpen()).containsExactly(0, 1, 2);
    try (Pipeline other = PipelineService.start(bench.config())) {
      WAITS.await(
          "the other member has one of them",
          () -> WAITS.await(other.openPartitions(LOOK)).size() == 1);
      assertThat(member.toOpen()).hasSize(2);
      Set<Integer> kept = member.toOpen();
      gate.countDown();
      Map<TopicPartition, Long> ends;
      try (TopicAdmin admin = new TopicAdmin(bench.kafka(), Duration.ofSeconds(60))) {
        ends = admin.endOffsets(bench.topics().events());
      }
      var over = running.completion().toCompletableFuture();
      WAITS.await(
          "the others are fed, or the stream ends, so that the group is joined again",
          () -> over.isDone() || isApplied(partitions, kept, ends));
      System.out.printf(
          "one of three was taken back: %s%n",
          over.isDone() ? "the stream ends" : "the others are fed");
      WAITS.await(other.stop());
      WAITS.await(
          "the one that came back is fed as well",
          () -> over.isDone() || isApplied(partitions, Set.of(0, 1, 2), ends));
    } finally {
      running.drain(Runnable::run);
      WAITS.await(running.completion().exceptionally(_ -> Done.done()));
    }
  }

  /** A move in the group ended the member's generation while it committed. */
  @Test
  void aPartitionWhoseCommitIsRefusedGoesBackByItself() throws Exception {
    gate.countDown();
    refusesOnce = true;
    ActorRef<Partitions.Command> partitions = partitions(-1);
    EventStream.Running running = stream(partitions, Duration.ofMinutes(5)).run();
    try {
      assertThat(opened.await(60, TimeUnit.SECONDS)).isTrue();
      Map<TopicPartition, Long> ends;
      try (TopicAdmin admin = new TopicAdmin(bench.kafka(), Duration.ofSeconds(60))) {
        ends = admin.endOffsets(bench.topics().events());
      }
      WAITS.await("all is applied", () -> isApplied(partitions, member.toOpen(), ends));
      assertThat(running.completion().toCompletableFuture()).isNotDone();
      Samples page = new Samples();
      meters.addTo(page);
      assertThat(new Scraped(page.text()).sum("retstack_partition_failures_total"))
          .as("times that a partition went back")
          .isEqualTo((double) ends.values().stream().filter(end -> end > 0).count());
    } finally {
      running.drain(Runnable::run);
      WAITS.await(running.completion().exceptionally(_ -> Done.done()));
    }
  }

  private boolean isApplied(
      ActorRef<Partitions.Command> partitions, Set<Integer> kept, Map<TopicPartition, Long> ends)
      throws Exception {
    var owned =
        WAITS.await(
            AskPattern.<Partitions.Command, Partitions.Owned>ask(
                partitions, Partitions.AskOwned::new, LOOK, kit.scheduler()));
    for (int partition : kept) {
      if (!owned.graphs().containsKey(partition)) {
        return false;
      }
      PartitionMeasure measure =
          WAITS.await(
              AskPattern.<PartitionGraph.Command, PartitionMeasure>ask(
                  owned.graphs().get(partition),
                  PartitionGraph.Measure::new,
                  LOOK,
                  kit.scheduler()));
      long end = ends.get(new TopicPartition(bench.topics().events(), partition));
      if (measure.nextOffset() < end) {
        return false;
      }
    }
    return true;
  }

  @Test
  void partitionsThatTheConnectorForgotMakeTheMemberJoinAgain() throws Exception {
    gate.countDown();
    // its offset cannot be set, as that of one which was taken back in that moment
    EventStream.Running running = stream(partitions(1), Duration.ofSeconds(1)).run();
    assertThatThrownBy(() -> WAITS.await(running.completion()))
        .rootCause()
        .hasMessage("no records of partitions [0, 1, 2] came for 1 s");
  }
}
