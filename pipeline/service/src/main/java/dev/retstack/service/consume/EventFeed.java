package dev.retstack.service.consume;

import dev.retstack.service.checkpoint.Setback;
import dev.retstack.service.checkpoint.UnreadableCheckpointException;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.OtherVersionException;
import dev.retstack.service.kafka.Reason;
import dev.retstack.service.partition.Feed;
import dev.retstack.service.partition.Partitions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The member of the group: one thread that polls events, hands records to the partitions, and
 * carries out what {@link PartitionTable} orders. Messages of partitions come through an inbox,
 * which wakes it. If the consumer fails, or another member turns out to own a partition, it gives
 * up all partitions and joins the group again after a while.
 */
public final class EventFeed {
  private static final Logger log = LoggerFactory.getLogger(EventFeed.class);

  /** The broker answers a fetch when so much is there, ... */
  private static final int FETCH_BYTES = 256 << 10;

  /** ... or after this time: few large answers cost a fraction of many small ones. */
  private static final int FETCH_WAIT_MILLIS = 20;

  /**
   * Records that come at once: a partition has fewer than this and {@link PartitionTable#ENOUGH} on
   * their way.
   */
  private static final int POLL_RECORDS = 16;

  private static final Duration POLL = Duration.ofMillis(100);

  /** While a partition has enough, the others are looked after so often. */
  private static final Duration HOLD = Duration.ofMillis(10);

  /**
   * A member that takes longer to hand a partition over is fenced by the next owner, which repeats
   * the work since the last checkpoint.
   */
  private static final Duration HAND_OVER = Duration.ofSeconds(20);

  /** Until all partitions are given up. */
  private static final Duration GIVE_UP = Duration.ofMinutes(2);

  /** A member that ran this long was well; its next failure is a new one. */
  private static final Duration WELL = Duration.ofMinutes(1);

  /** What the thread receives. */
  private sealed interface Event {}

  private record FromFeed(int partition, Feed.Event event) implements Event {}

  private enum End implements Event {
    /** Partitions are handed over first. */
    IN_ORDER,
    AT_ONCE
  }

  private final String topic;
  private final Map<String, Object> config;
  private final GroupMember member;
  private final Consumer<OtherVersionException> onRefusal;
  private final Thread thread;
  private final CompletableFuture<Done> over = new CompletableFuture<>();
  private final BlockingQueue<Event> inbox = new LinkedBlockingQueue<>();

  /** The thread is in a poll, from which an event wakes it. */
  private final AtomicBoolean polls = new AtomicBoolean();

  private volatile KafkaConsumer<byte[], byte[]> consumer;

  // what follows belongs to the thread
  private ActorRef<Partitions.Command> partitions;
  private final PartitionTable table = new PartitionTable();
  private boolean idle;
  private End end;
  private Throwable fence;
  private OtherVersionException refusal;

  /**
   * Makes a member that does not join yet.
   *
   * @param member learns what the group gives
   * @param onRefusal hears of state that only another release reads: then this member gave up its
   *     partitions, and does not join again
   */
  public EventFeed(
      KafkaSettings kafka,
      String topic,
      String group,
      GroupMember member,
      Consumer<OtherVersionException> onRefusal) {
    this.topic = topic;
    this.member = member;
    this.onRefusal = onRefusal;
    this.config = kafka.member();
    config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
    config.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, String.valueOf(POLL_RECORDS));
    config.putIfAbsent(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, String.valueOf(FETCH_BYTES));
    config.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, String.valueOf(FETCH_WAIT_MILLIS));
    if (config.containsKey(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG)) {
      config.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, Assignor.class.getName());
      config.put(Assignor.MEMBER, member);
    }
    this.thread = Thread.ofPlatform().daemon().name("retstack-events").unstarted(this::run);
  }

  /**
   * Kafka's own assignor, under its own name. Its data is asked for when the member joins, and that
   * is the only way to learn of it.
   */
  public static final class Assignor extends CooperativeStickyAssignor implements Configurable {
    private static final String MEMBER = "retstack.member";
    private GroupMember member;

    @Override
    public void configure(Map<String, ?> configs) {
      member = (GroupMember) configs.get(MEMBER);
    }

    @Override
    public ByteBuffer subscriptionUserData(Set<String> topics) {
      member.joins();
      return super.subscriptionUserData(topics);
    }
  }

  /** Joins the group; records go to these partitions. */
  public void start(ActorRef<Partitions.Command> to) {
    partitions = to;
    thread.start();
  }

  /** Where this partition's actor reports to. */
  public Feed of(int partition) {
    return said -> post(new FromFeed(partition, said));
  }

  /** Writes the last checkpoints and leaves the group; completes when that is done. */
  public CompletionStage<Done> stop() {
    post(End.IN_ORDER);
    return over;
  }

  /** Leaves the group as it is. */
  public void abort() {
    post(End.AT_ONCE);
  }

  private void post(Event event) {
    inbox.add(event);
    if (polls.getAndSet(false)) {
      consumer.wakeup();
    }
  }

  private void run() {
    Duration backoff = PartitionTable.FIRST_BACKOFF;
    while (end == null && refusal == null) {
      long joined = System.nanoTime();
      Throwable failure = runAsMember();
      if (end == null && refusal == null) {
        log.warn(
            "this member joins its group again, with all its partitions from their last"
                + " checkpoints: {}",
            Reason.of(failure));
        boolean wasWell = System.nanoTime() - joined > WELL.toNanos();
        backoff = wasWell ? PartitionTable.FIRST_BACKOFF : backoff;
        await(() -> end != null, backoff);
        backoff = PartitionTable.longer(backoff);
      }
    }
    over.complete(Done.done());
    if (refusal != null) {
      onRefusal.accept(refusal);
    }
  }

  /** Stays in the group until asked to end, or until a failure, which it returns. */
  private Throwable runAsMember() {
    fence = null;
    try (var joining = KafkaSettings.open(config)) {
      consumer = joining;
      consumer.subscribe(List.of(topic), new MoveListener());
      while (end == null && refusal == null && fence == null) {
        turn();
      }
      return fence;
    } catch (RuntimeException e) {
      return e;
    } finally {
      member.left();
      carryOut(table.left());
      if (!await(table::isEmpty, GIVE_UP)) {
        log.warn("partitions are not handed over yet");
      }
    }
  }

  private void turn() {
    // a poll goes round and round while records are there that are not wanted: it is no place to
    // wait then
    for (Event event = next(idle && table.isSomePaused()); event != null; event = next(false)) {
      on(event);
    }
    carryOut(table.tick(System.nanoTime()));
    ConsumerRecords<byte[], byte[]> polled = ConsumerRecords.empty();
    polls.set(true);
    try {
      boolean waits = inbox.isEmpty() && !table.isSomePaused();
      polled = consumer.poll(waits ? POLL : Duration.ZERO);
    } catch (WakeupException _) {
      // there is an event
    } finally {
      polls.set(false);
    }
    idle = polled.isEmpty();
    member.is(consumer.groupMetadata());
    for (TopicPartition at : polled.partitions()) {
      var records = polled.records(at);
      partitions.tell(new Partitions.HandOn(at.partition(), records));
      carryOut(table.recordsHanded(at.partition(), records.size()));
    }
  }

  /** An event; null where there is none, at once or after a while. */
  private Event next(boolean waits) {
    try {
      return waits ? inbox.poll(HOLD.toNanos(), TimeUnit.NANOSECONDS) : inbox.poll();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts this thread", e);
    }
  }

  private void on(Event event) {
    switch (event) {
      case FromFeed m -> carryOut(on(m.partition(), m.event(), System.nanoTime()));
      case End how -> end = how;
    }
  }

  private List<PartitionTable.Order> on(int partition, Feed.Event event, long now) {
    return switch (event) {
      case Feed.Opened m -> table.opened(partition, m.nextOffset(), now);
      case Feed.Taken m -> table.recordsTaken(partition, m.records());
      case Feed.Failed m -> onFailed(partition, m.cause(), now);
      case Feed.Closed _ -> table.closed(partition, now);
    };
  }

  private List<PartitionTable.Order> onFailed(int partition, Throwable cause, long now) {
    boolean isUnreadable = cause instanceof UnreadableCheckpointException;
    var orders = isUnreadable ? table.leftAlone(partition, now) : table.failed(partition, now);
    if (orders.isEmpty()) {
      return orders; // it had to go anyway
    }
    if (isUnreadable) {
      member.leaveAlone(partition);
    }
    if (cause instanceof OtherVersionException other) {
      refusal = other;
    } else if (Setback.isFence(cause)) {
      // only the group knows the owner: opening the partition might shut its owner out
      fence = cause;
    }
    return orders;
  }

  private void carryOut(List<PartitionTable.Order> orders) {
    for (PartitionTable.Order order : orders) {
      var at = new TopicPartition(topic, order.partition());
      switch (order) {
        case PartitionTable.Order.Pause _ -> consumer.pause(List.of(at));
        case PartitionTable.Order.Resume _ -> consumer.resume(List.of(at));
        case PartitionTable.Order.Seek m -> consumer.seek(at, m.offset());
        case PartitionTable.Order.Open m -> partitions.tell(new Partitions.Open(m.partition()));
        case PartitionTable.Order.Close m -> partitions.tell(new Partitions.Close(m.partition()));
        case PartitionTable.Order.Drop m -> partitions.tell(new Partitions.Drop(m.partition()));
      }
    }
  }

  /** Does what events say until it holds, or the end is at once; false where time ran out. */
  private boolean await(BooleanSupplier condition, Duration patience) {
    polls.set(false);
    long deadline = System.nanoTime() + patience.toNanos();
    try {
      while (end != End.AT_ONCE && !condition.getAsBoolean()) {
        Event event = inbox.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (event == null) {
          return false;
        }
        on(event);
      }
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts this thread", e);
    }
  }

  /** What the group gives and takes; on the thread, inside a poll or while the consumer closes. */
  private final class MoveListener implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
      Set<Integer> numbers = numbers(assigned);
      member.joined(consumer.groupMetadata());
      member.given(numbers);
      numbers.forEach(partition -> carryOut(table.assigned(partition)));
    }

    /**
     * Gives partitions up when their last checkpoints are written, and not before, so that the next
     * owners begin where this one ended. Heartbeats continue.
     */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
      Set<Integer> numbers = numbers(revoked);
      if (end == End.AT_ONCE) {
        return; // what is left is dropped when this member has left
      }
      member.joined(consumer.groupMetadata());
      member.takenBack(numbers);
      numbers.forEach(partition -> carryOut(table.revoked(partition)));
      if (!await(() -> !table.drains(numbers), HAND_OVER)) {
        log.warn(
            "partitions {} move without a last checkpoint: it was not written within {} s; their"
                + " next owners do the work since the last one again",
            numbers,
            HAND_OVER.toSeconds());
      }
    }

    /** Writes nothing more: another member may have the partitions already. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> lost) {
      Set<Integer> numbers = numbers(lost);
      member.lost(numbers);
      numbers.forEach(partition -> carryOut(table.lost(partition)));
      log.info("partitions {} were lost to other members", numbers);
    }

    private static Set<Integer> numbers(Collection<TopicPartition> some) {
      return some.stream().map(TopicPartition::partition).collect(Collectors.toSet());
    }
  }
}
