package dev.retstack.service.ingest;

import dev.retstack.service.reconstruct.PartitionGraph;
import dev.retstack.service.reconstruct.Partitions;
import dev.retstack.service.reconstruct.UnreadableCheckpointException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.pekko.Done;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.kafka.ConsumerSettings;
import org.apache.pekko.kafka.Subscriptions;
import org.apache.pekko.kafka.javadsl.Consumer;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.stream.typed.javadsl.ActorFlow;

/**
 * The stream from the events topic into the partitions this member owns. A partition's records
 * begin at the offset its own state asks for, after that state is loaded; each record is one
 * message, answered before more than {@value #IN_FLIGHT} others are on their way.
 */
final class EventStream {
  private static final int IN_FLIGHT = 4;

  /** The broker answers a fetch when so much is there, ... */
  private static final int FETCH_BYTES = 256 << 10;

  /** ... or after this time: few large answers cost a fraction of many small ones. */
  private static final int FETCH_WAIT_MILLIS = 20;

  /** Longer than a chunk may wait for its image and for the broker together. */
  private static final Duration ANSWER = Duration.ofMinutes(5);

  /**
   * A partition that was taken away and does not come back within this time is closed; whoever gets
   * it back sooner has to join again.
   */
  private static final Duration CLOSE_WAIT = Duration.ofMillis(50);

  /**
   * Within this time records of a partition that was opened are asked for. The connector forgets
   * all partitions that it was given together where one of them went away before it had their
   * offsets; then only joining again helps.
   */
  static final Duration FEED_WAIT = Duration.ofSeconds(30);

  /** A stream that runs. */
  record Running(Consumer.DrainingControl<Done> control, SharedKillSwitch feeds) {
    /**
     * Ends it after the records on their way; {@code completion} tells when.
     *
     * <p>The feeds are ended by hand: one that was assigned and does not run yet is forgotten by
     * the source that was told to stop, and would run for ever.
     */
    void drain(Executor executor) {
      control.drainAndShutdown(executor);
      feeds.shutdown();
    }

    CompletionStage<Done> completion() {
      return control.streamCompletion();
    }
  }

  private final ActorSystem<?> system;
  private final KafkaSettings kafka;
  private final String topic;
  private final String group;
  private final ActorRef<Partitions.Command> partitions;

  private final GroupMember member;
  private final Duration feedWait;

  /**
   * A stream that does not run yet.
   *
   * @param member is told what the group gives
   * @param feedWait within it each partition that was opened has a feed, or the stream fails
   */
  EventStream(
      ActorSystem<?> system,
      KafkaSettings kafka,
      String topic,
      String group,
      ActorRef<Partitions.Command> partitions,
      GroupMember member,
      Duration feedWait) {
    this.member = member;
    this.feedWait = feedWait;
    this.system = system;
    this.kafka = kafka;
    this.topic = topic;
    this.group = group;
    this.partitions = partitions;
  }

  /** Joins the group and runs until drained or failed. */
  Running run() {
    member.left();
    SharedKillSwitch feeds = KillSwitches.shared("feeds");
    return new Running(run(feeds, KillSwitches.shared("assignments")), feeds);
  }

  private Consumer.DrainingControl<Done> run(SharedKillSwitch feeds, SharedKillSwitch assignments) {
    return Consumer.plainPartitionedManualOffsetSource(
            consumer(),
            Subscriptions.topics(topic)
                .withPartitionAssignmentHandler(new PartitionMoves(system, partitions, member)),
            assigned -> startOffsets(assigned, assignments),
            this::revoked)
        .via(assignments.flow())
        .mapAsync(
            1,
            assigned ->
                member.leavesAlone(assigned.first().partition())
                    ? CompletableFuture.completedFuture(leaveAlone(assigned, feeds))
                    : find(assigned.first())
                        .thenApply(graph -> feed(assigned, graph, feeds))
                        .exceptionally(failure -> unlessGone(assigned, feeds, failure)))
        // feeds of partitions that went away while they were opened stay, and take no place
        .flatMapMerge(Integer.MAX_VALUE, feed -> feed)
        .toMat(Sink.ignore(), Consumer::createDrainingControl)
        .run(system);
  }

  private Source<Done, NotUsed> feed(
      Pair<TopicPartition, Source<ConsumerRecord<byte[], byte[]>, NotUsed>> assigned,
      ActorRef<PartitionGraph.Command> graph,
      SharedKillSwitch feeds) {
    member.feeds(assigned.first().partition());
    return assigned
        .second()
        .via(feeds.flow())
        .via(ActorFlow.askWithStatus(IN_FLIGHT, graph, ANSWER, PartitionGraph.Ingest::new));
  }

  private Source<Done, NotUsed> leaveAlone(
      Pair<TopicPartition, Source<ConsumerRecord<byte[], byte[]>, NotUsed>> assigned,
      SharedKillSwitch feeds) {
    member.feeds(assigned.first().partition());
    return assigned.second().via(feeds.flow()).via(new LeftAlone<>());
  }

  /** A partition that was taken back before its feed ran is no failure of the others. */
  private Source<Done, NotUsed> unlessGone(
      Pair<TopicPartition, Source<ConsumerRecord<byte[], byte[]>, NotUsed>> assigned,
      SharedKillSwitch feeds,
      Throwable failure) {
    if (member.holds(assigned.first().partition())) {
      throw failure instanceof CompletionException wrapped
          ? wrapped
          : new CompletionException(failure);
    }
    return leaveAlone(assigned, feeds);
  }

  private CompletionStage<Map<TopicPartition, Object>> startOffsets(
      Set<TopicPartition> assigned, SharedKillSwitch assignments) {
    Map<TopicPartition, CompletableFuture<OptionalLong>> asked = new LinkedHashMap<>();
    for (TopicPartition partition : assigned) {
      asked.put(
          partition,
          acquire(partition)
              .thenCompose(
                  graph ->
                      AskPattern.<PartitionGraph.Command, Long>askWithStatus(
                          graph, PartitionGraph.AwaitOpen::new, ANSWER, system.scheduler()))
              .thenApply(OptionalLong::of)
              .exceptionally(failure -> leftAt(partition.partition(), failure))
              .toCompletableFuture());
    }
    return CompletableFuture.allOf(asked.values().toArray(CompletableFuture[]::new))
        .thenApply(
            _ -> {
              // the connector wants objects and casts them to Long
              Map<TopicPartition, Object> offsets = new HashMap<>();
              asked.forEach(
                  (partition, offset) -> {
                    // of one that was taken back meanwhile the connector cannot set the offset,
                    // and forgets the others with it
                    if (member.holds(partition.partition())) {
                      offset.join().ifPresent(from -> offsets.put(partition, from));
                    }
                  });
              awaitFeeds(offsets.keySet(), assignments);
              return offsets;
            });
  }

  private void awaitFeeds(Set<TopicPartition> opened, SharedKillSwitch assignments) {
    Map<Integer, Long> awaited = member.holdings(PartitionMoves.numbers(opened));
    system
        .scheduler()
        .scheduleOnce(
            feedWait,
            () -> {
              Set<Integer> forgotten = member.unfed(awaited);
              if (!forgotten.isEmpty()) {
                assignments.abort(
                    new IOException(
                        "no records of partitions %s came for %d s"
                            .formatted(forgotten, feedWait.toSeconds())));
              }
            },
            system.executionContext());
  }

  /**
   * Where a partition stands that is left alone; nowhere one that was taken back meanwhile. Any
   * other failure goes on.
   */
  private OptionalLong leftAt(int partition, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof UnreadableCheckpointException unreadable) {
      member.leaveAlone(partition);
      return OptionalLong.of(unreadable.nextOffset());
    }
    if (!member.holds(partition)) {
      return OptionalLong.empty();
    }
    throw new CompletionException(cause);
  }

  private void revoked(Set<TopicPartition> gone) {
    gone.forEach(partition -> member.lookAgain(partition.partition()));
    partitions.tell(new Partitions.Release(PartitionMoves.numbers(gone)));
  }

  private CompletionStage<ActorRef<PartitionGraph.Command>> acquire(TopicPartition partition) {
    return AskPattern.<Partitions.Command, Partitions.Acquired>ask(
            partitions,
            replyTo -> new Partitions.Acquire(partition.partition(), replyTo),
            ANSWER,
            system.scheduler())
        .thenApply(Partitions.Acquired::graph);
  }

  /**
   * The source makes a new feed in place of one that failed, in the moment before it fails with it;
   * so a feed takes a partition that {@link #startOffsets} opened, and opens none.
   */
  private CompletionStage<ActorRef<PartitionGraph.Command>> find(TopicPartition partition) {
    return AskPattern.<Partitions.Command, Partitions.Acquired>askWithStatus(
            partitions,
            replyTo -> new Partitions.Find(partition.partition(), replyTo),
            ANSWER,
            system.scheduler())
        .thenApply(Partitions.Acquired::graph);
  }

  private ConsumerSettings<byte[], byte[]> consumer() {
    Map<String, Object> config = kafka.member();
    config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
    config.putIfAbsent(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, String.valueOf(FETCH_BYTES));
    config.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, String.valueOf(FETCH_WAIT_MILLIS));
    return ConsumerSettings.create(system, new ByteArrayDeserializer(), new ByteArrayDeserializer())
        .withConsumerFactory(_ -> new MemberConsumer(config, member))
        .withWaitClosePartition(CLOSE_WAIT)
        .withStopTimeout(Duration.ZERO);
  }
}
