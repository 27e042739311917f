package dev.retstack.service.ingest;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;

/**
 * What the consumer group gave this member, and which of it has a feed. A partition that comes back
 * after it was taken away is held anew: what was seen of it before tells nothing about it. Kept up
 * to date by the event stream, read by whoever wants to know; safe for use by several threads.
 */
public final class GroupMember {
  /**
   * A member that joins commits nothing for so long, as in Kafka Streams: its generation ends at
   * any moment, and a transaction that is refused is work done twice. Longer where others are slow
   * to join; its generation lasts until they have.
   */
  static final long JOINING_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Partitions that the group gave this member and has not taken back, numbered as they came. */
  private final Map<Integer, Long> held = new HashMap<>();

  /** Under which number a partition got a feed. */
  private final Map<Integer, Long> fed = new HashMap<>();

  /** Those whose checkpoints this member cannot go on from: it takes nothing of them. */
  private final Set<Integer> leftAlone = new HashSet<>();

  /** Those that the group gave to others without asking this member. */
  private final Set<Integer> lost = new HashSet<>();

  private long count;
  private boolean isIn;
  private ConsumerGroupMetadata known;
  private boolean joins;
  private long joinsSince;

  /** Whether the group has told this member its partitions, be it none. */
  public synchronized boolean isIn() {
    return isIn;
  }

  /** Partitions that it has to open: those that it was given and can read, in order. */
  public synchronized Set<Integer> toOpen() {
    Set<Integer> wanted = new TreeSet<>(held.keySet());
    wanted.removeAll(leftAlone);
    return wanted;
  }

  /** It is in no group, and joins it or not. */
  synchronized void left() {
    isIn = false;
    held.clear();
    fed.clear();
    leftAlone.clear();
    joins = false;
    notifyAll();
  }

  /** It asks the group for partitions: until it hears of them its generation may end. */
  synchronized void joins() {
    joins = true;
    joinsSince = System.nanoTime();
  }

  /** The broker refused what it committed as this one: it waits until it is another. */
  public synchronized void refused(ConsumerGroupMetadata as) {
    if (as.equals(known)) {
      joins();
    }
  }

  /** The group knows it as this one. */
  synchronized void is(ConsumerGroupMetadata now) {
    if (!now.equals(known)) {
      joined(now);
    }
  }

  /** The group knows it as this one, and has said which partitions it has. */
  public synchronized void joined(ConsumerGroupMetadata now) {
    known = now;
    joins = false;
    notifyAll();
  }

  /**
   * As whom this member commits a partition. Waits while it joins.
   *
   * @throws CommitFailedException where the group shut it out, or gave the partition to another
   */
  public synchronized ConsumerGroupMetadata commitsAs(int partition) throws InterruptedException {
    while (joins && !lost.contains(partition)) {
      long left = JOINING_NANOS - (System.nanoTime() - joinsSince);
      if (left <= 0) {
        break;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    if (lost.contains(partition) || known == null || known.generationId() < 0) {
      throw new CommitFailedException(
          "the group took partition %d from this member".formatted(partition));
    }
    return known;
  }

  /**
   * Refuses to open a partition that the group has taken back: to begin its transactions would shut
   * out whoever has it now.
   */
  public synchronized void requireHeld(int partition) {
    if (!held.containsKey(partition)) {
      throw new CommitFailedException(
          "the group took partition %d back before it was open".formatted(partition));
    }
  }

  /** The group gave it these partitions, or none. */
  public synchronized void given(Set<Integer> partitions) {
    partitions.forEach(partition -> held.put(partition, ++count));
    lost.removeAll(partitions);
    isIn = true;
  }

  /** The group took these back. */
  public synchronized void takenBack(Set<Integer> partitions) {
    held.keySet().removeAll(partitions);
  }

  /** The group gave these to others already: nothing of them is committed here. */
  synchronized void lost(Set<Integer> partitions) {
    takenBack(partitions);
    lost.addAll(partitions);
    notifyAll();
  }

  synchronized boolean holds(int partition) {
    return held.containsKey(partition);
  }

  /** Those of these partitions that it holds, each with the number that it has until it goes. */
  synchronized Map<Integer, Long> holdings(Set<Integer> partitions) {
    Map<Integer, Long> some = new TreeMap<>(held);
    some.keySet().retainAll(partitions);
    return some;
  }

  /** This partition has a feed. */
  synchronized void feeds(int partition) {
    Long number = held.get(partition);
    if (number != null) {
      fed.put(partition, number);
    }
  }

  /** Those that it holds under the same number still, and that have no feed. */
  synchronized Set<Integer> unfed(Map<Integer, Long> some) {
    Set<Integer> unfed = new TreeSet<>();
    some.forEach(
        (partition, number) -> {
          if (number.equals(held.get(partition)) && !number.equals(fed.get(partition))) {
            unfed.add(partition);
          }
        });
    return unfed;
  }

  /** It takes nothing of this partition. */
  synchronized void leaveAlone(int partition) {
    leftAlone.add(partition);
  }

  /** The stream of this partition is over: whoever gets it again looks again. */
  synchronized void lookAgain(int partition) {
    leftAlone.remove(partition);
  }

  synchronized boolean leavesAlone(int partition) {
    return leftAlone.contains(partition);
  }
}
