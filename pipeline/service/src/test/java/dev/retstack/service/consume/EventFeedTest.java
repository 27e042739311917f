package dev.retstack.service.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineService;
import dev.retstack.service.checkpoint.Checkpoint;
import dev.retstack.service.checkpoint.KafkaLedger;
import dev.retstack.service.checkpoint.Ledger;
import dev.retstack.service.checkpoint.StartAt;
import dev.retstack.service.images.ImageClaims;
import dev.retstack.service.images.ImageFeed;
import dev.retstack.service.images.ImageReader;
import dev.retstack.service.images.ImageRegistry;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.partition.Feed;
import dev.retstack.service.partition.PartitionGraph;
import dev.retstack.service.partition.PartitionMeasure;
import dev.retstack.service.partition.PartitionPeers;
import dev.retstack.service.partition.PartitionSettings;
import dev.retstack.service.partition.Partitions;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Partitions that fail, are refused, or are taken back while they are opened: the others do not
 * notice. They are really opened here; when that is told, and what fails, is what the test decides.
 */
class EventFeedTest {
  private static final Waits WAITS = new Waits(Duration.ofSeconds(60));
  private static final Duration LOOK = Duration.ofSeconds(2);

  private final ActorTestKit kit = ActorTestKit.create();
  private final LiveBench bench = LiveBench.fresh();
  private final GroupMember member = new GroupMember("");
  private final CountDownLatch opened = new CountDownLatch(LiveBench.PARTITIONS);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Map<Integer, Integer> openings = new ConcurrentHashMap<>();
  private final AtomicInteger failures = new AtomicInteger();
  private final Meters meters = new Meters();
  private volatile int failing = -1;
  private boolean refusesOnce;
  private EventFeed feed;
  private ImageFeed images;
  private ImageReader reader;
  private ImageClaims claims;

  /** A ledger in Kafka whose owner hears late that it is open, or that fails. */
  private final class LateLedger implements Ledger {
    private final Ledger kafka;
    private final int partition;
    private final GroupMember as = new GroupMember("");
    private boolean refused = !refusesOnce;

    LateLedger(int partition) {
      this.partition = partition;
      this.kafka =
          new KafkaLedger(
              bench.kafka(),
              bench.topics(),
              bench.topics().prefix(),
              partition,
              as,
              new StartAt.Earliest());
    }

    @Override
    public Checkpoint open() throws Exception {
      openings.merge(partition, 1, Integer::sum);
      as.joined(member.commitsAs(partition));
      as.given(Set.of(partition));
      Checkpoint found = kafka.open();
      opened.countDown();
      gate.await();
      mayFail();
      return found;
    }

    private void mayFail() throws IOException {
      if (partition == failing && failures.getAndDecrement() > 0) {
        throw new IOException("no room");
      }
    }

    @Override
    public Optional<Checkpoint> repair() {
      return Optional.empty();
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
      mayFail();
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
  void end() throws Exception {
    gate.countDown();
    WAITS.await(feed.stop());
    ActorTestKit.shutdown(kit.system(), WAITS.patience());
    images.close();
    reader.close();
    claims.close();
  }

  private ActorRef<Partitions.Command> partitions() throws Exception {
    reader = new ImageReader(bench.kafka(), bench.topics().images());
    claims = new ImageClaims(bench.kafka(), bench.topics(), bench.topics().prefix());
    ActorRef<ImageRegistry.Command> registry =
        kit.spawn(ImageRegistry.create(1 << 20, 1 << 20, reader, claims::write, meters));
    try (TopicAdmin admin = new TopicAdmin(bench.kafka(), Duration.ofSeconds(60))) {
      images =
          new ImageFeed(
              bench.kafka(),
              admin.endOffsets(bench.topics().images()),
              claims,
              registry,
              meters,
              kit.scheduler());
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
            1 << 20,
            OptionalLong.empty(),
            GraphLimits.DEFAULT,
            Duration.ZERO,
            TimeRules.DEFAULT,
            LateSymbols.NONE);
    return kit.spawn(
        Partitions.create(
            p ->
                PartitionGraph.create(
                    p,
                    settings,
                    () -> new LateLedger(p),
                    new PartitionPeers(
                        registry,
                        watch,
                        meters.partition(p),
                        StateBudget.UNLIMITED,
                        () -> CompletableFuture.completedFuture(OptionalLong.empty())),
                    feed.of(p)),
            p -> {
              watch.tell(new CoreWatch.Left(p));
              feed.of(p).tell(Feed.Closed.INSTANCE);
            }));
  }

  /** Joins the group. */
  private ActorRef<Partitions.Command> join() throws Exception {
    feed =
        new EventFeed(
            bench.kafka(),
            bench.topics().events(),
            bench.topics().prefix(),
            member,
            why -> {
              throw new AssertionError(why);
            });
    ActorRef<Partitions.Command> partitions = partitions();
    feed.start(partitions);
    return partitions;
  }

  private Map<TopicPartition, Long> ends() throws Exception {
    try (TopicAdmin admin = new TopicAdmin(bench.kafka(), Duration.ofSeconds(60))) {
      return admin.endOffsets(bench.topics().events());
    }
  }

  @Test
  void oneThatIsTakenBackWhileThreeAreOpenedDoesNotMakeTheOthersStandStill() throws Exception {
    ActorRef<Partitions.Command> partitions = join();
    assertThat(opened.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(member.toOpen()).containsExactly(0, 1, 2);
    try (Pipeline other = PipelineService.start(bench.config())) {
      WAITS.await(
          "the other member has one of them",
          () -> WAITS.await(other.openPartitions(LOOK)).size() == 1);
      assertThat(member.toOpen()).hasSize(2);
      Set<Integer> kept = member.toOpen();
      gate.countDown();
      WAITS.await("the others are fed", () -> isApplied(partitions, kept, ends()));
      kept.forEach(partition -> assertThat(openings).containsEntry(partition, 1));
    }
    WAITS.await(
        "the one that came back is fed as well",
        () -> isApplied(partitions, Set.of(0, 1, 2), ends()));
  }

  /** Three times while it is opened and when it writes a checkpoint. */
  @Test
  void onePartitionThatFailsIsOpenedAgainAloneAndTheOthersFlow() throws Exception {
    Map<TopicPartition, Long> ends = ends();
    failing = Collections.max(ends.entrySet(), Map.Entry.comparingByValue()).getKey().partition();
    failures.set(Integer.MAX_VALUE);
    gate.countDown();
    ActorRef<Partitions.Command> partitions = join();
    WAITS.await("it failed twice", () -> openings.getOrDefault(failing, 0) > 2);
    Set<Integer> others = new TreeSet<>(Set.of(0, 1, 2));
    others.remove(failing);
    WAITS.await("the others flow", () -> isApplied(partitions, others, ends));
    failures.set(1);
    WAITS.await("it flows", () -> isApplied(partitions, Set.of(failing), ends));
    others.forEach(partition -> assertThat(openings).containsEntry(partition, 1));
  }

  /** A move in the group ended the member's generation while it committed. */
  @Test
  void aPartitionWhoseCommitIsRefusedGoesBackByItself() throws Exception {
    gate.countDown();
    refusesOnce = true;
    ActorRef<Partitions.Command> partitions = join();
    assertThat(opened.await(60, TimeUnit.SECONDS)).isTrue();
    Map<TopicPartition, Long> ends = ends();
    WAITS.await("all is applied", () -> isApplied(partitions, member.toOpen(), ends));
    assertThat(openings).isEqualTo(Map.of(0, 1, 1, 1, 2, 1));
    assertThat(new Scraped(meters.samples().text()).sum("retstack_partition_failures_total"))
        .as("times that a partition went back")
        .isEqualTo((double) ends.values().stream().filter(end -> end > 0).count());
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
      PartitionMeasure measure;
      try {
        measure =
            WAITS.await(
                AskPattern.<PartitionGraph.Command, PartitionMeasure>ask(
                    owned.graphs().get(partition),
                    PartitionGraph.Measure::new,
                    LOOK,
                    kit.scheduler()));
      } catch (ExecutionException _) {
        return false; // it failed meanwhile
      }
      long end = ends.get(new TopicPartition(bench.topics().events(), partition));
      if (measure.nextOffset() < end) {
        return false;
      }
    }
    return true;
  }
}
