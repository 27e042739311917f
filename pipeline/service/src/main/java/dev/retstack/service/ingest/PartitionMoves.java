package dev.retstack.service.ingest;

import dev.retstack.service.reconstruct.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.kafka.RestrictedConsumer;
import org.apache.pekko.kafka.javadsl.PartitionAssignmentHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands partitions over: Kafka is told that this member gives a partition up when its last
 * checkpoint is written, and not before, so that the next owner begins where this one ended. Runs
 * on the consumer's thread, which waits meanwhile; heartbeats go on.
 */
final class PartitionMoves implements PartitionAssignmentHandler {
  private static final Logger log = LoggerFactory.getLogger(PartitionMoves.class);

  /**
   * Who takes longer is shut out by the next owner, who does the work since the last checkpoint.
   */
  private static final Duration LONGEST = Duration.ofSeconds(20);

  private final ActorSystem<?> system;
  private final ActorRef<Partitions.Command> partitions;
  private final GroupMember member;

  /**
   * Moves of the partitions of one member.
   *
   * @param member is told of each
   */
  PartitionMoves(
      ActorSystem<?> system, ActorRef<Partitions.Command> partitions, GroupMember member) {
    this.system = system;
    this.partitions = partitions;
    this.member = member;
  }

  @Override
  public void onRevoke(Set<TopicPartition> gone, RestrictedConsumer consumer) {
    if (gone.isEmpty()) {
      return;
    }
    member.takenBack(numbers(gone));
    List<CompletableFuture<Done>> done = new ArrayList<>();
    for (TopicPartition partition : gone) {
      done.add(
          AskPattern.<Partitions.Command, Done>ask(
                  partitions,
                  replyTo -> new Partitions.HandOver(partition.partition(), replyTo),
                  LONGEST,
                  system.scheduler())
              .toCompletableFuture());
    }
    try {
      CompletableFuture.allOf(done.toArray(CompletableFuture[]::new))
          .get(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      // the member is ending, and released them already
      log.debug("partitions {} are not handed over: {}", numbers(gone), e.toString());
    } catch (TimeoutException _) {
      log.warn(
          "partitions {} move without a last checkpoint: it was not written within {} s; their next"
              + " owners do the work since the last one again",
          numbers(gone),
          LONGEST.toSeconds());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void onAssign(Set<TopicPartition> assigned, RestrictedConsumer consumer) {
    member.given(numbers(assigned));
    partitions.tell(new Partitions.Assigned(numbers(assigned)));
  }

  /** Another member may have them already: nothing is written any more. */
  @Override
  public void onLost(Set<TopicPartition> lost, RestrictedConsumer consumer) {
    member.lost(numbers(lost));
    partitions.tell(new Partitions.Lost(numbers(lost)));
    log.info("partitions {} were lost to other members", numbers(lost));
  }

  @Override
  public void onStop(Set<TopicPartition> held, RestrictedConsumer consumer) {
    // the consumer was closed, and with it came onRevoke
  }

  /** Without their topic, which is the same for all. */
  static Set<Integer> numbers(Set<TopicPartition> some) {
    return some.stream().map(TopicPartition::partition).collect(Collectors.toSet());
  }
}
