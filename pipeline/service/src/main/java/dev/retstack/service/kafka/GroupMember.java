package dev.retstack.service.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;

/**
 * The identity with which a member commits, and what the group assigned to it. The consumer's
 * thread replaces one immutable snapshot by the next; ledgers and readers use the newest.
 */
public final class GroupMember {
  /**
   * A member that joins commits nothing for so long, as in Kafka Streams: its generation ends at
   * any moment, and a transaction that is refused is work done twice. Longer where others are slow
   * to join; its generation lasts until they have.
   */
  static final Duration JOINING = Duration.ofSeconds(10);

  private enum Standing {
    HELD,
    /** Held, and nothing is taken of it. */
    LEFT_ALONE,
    /** The group gave it to another member without asking this one. */
    LOST
  }

  /**
   * What is known at a time.
   *
   * @param isIn whether the group has assigned partitions to this member, be it none
   * @param as null before the first answer of the group
   * @param joins whether its generation may end at any moment, since {@code sinceNanos}
   * @param over completes when this is not the newest picture any more
   */
  private record Known(
      boolean isIn,
      ConsumerGroupMetadata as,
      boolean joins,
      long sinceNanos,
      Map<Integer, Standing> parts,
      CompletableFuture<Void> over) {
    static final Known NOTHING =
        new Known(false, null, false, 0, Map.of(), new CompletableFuture<>());

    Known as(ConsumerGroupMetadata now) {
      return new Known(isIn, now, false, 0, parts, new CompletableFuture<>());
    }

    Known joining() {
      return new Known(isIn, as, true, System.nanoTime(), parts, new CompletableFuture<>());
    }

    Known with(boolean in, Consumer<Map<Integer, Standing>> change) {
      Map<Integer, Standing> changed = new HashMap<>(parts);
      change.accept(changed);
      return new Known(in, as, joins, sinceNanos, Map.copyOf(changed), new CompletableFuture<>());
    }
  }

  private final String key;
  private final AtomicReference<Known> known = new AtomicReference<>(Known.NOTHING);

  /**
   * A member that has joined nothing yet.
   *
   * @param key digest of its key, which stands beside what it commits
   */
  public GroupMember(String key) {
    this.key = key;
  }

  /** Digest of its key. */
  public String key() {
    return key;
  }

  private void become(UnaryOperator<Known> next) {
    known.getAndUpdate(next).over().complete(null);
  }

  /** Whether the group has assigned partitions to this member, be it none. */
  public boolean isIn() {
    return known.get().isIn();
  }

  /** Partitions that it has to open: those that it was given and can read, in order. */
  public Set<Integer> toOpen() {
    return standing(Standing.HELD);
  }

  /** Partitions that it was given and cannot read, in order. */
  public Set<Integer> leftAlone() {
    return standing(Standing.LEFT_ALONE);
  }

  private Set<Integer> standing(Standing wanted) {
    Set<Integer> found = new TreeSet<>();
    known
        .get()
        .parts()
        .forEach(
            (partition, standing) -> {
              if (standing == wanted) {
                found.add(partition);
              }
            });
    return found;
  }

  /**
   * As whom this member commits a partition. Waits while it joins; one that left its group joins
   * nothing, and would keep a transaction open in which readers see no end.
   *
   * @throws CommitFailedException where it left, the group shut it out, or gave the partition to
   *     another
   */
  public ConsumerGroupMetadata commitsAs(int partition)
      throws InterruptedException, ExecutionException {
    Known now = known.get();
    while (now.joins() && now.isIn() && now.parts().get(partition) != Standing.LOST) {
      long left = JOINING.toNanos() - (System.nanoTime() - now.sinceNanos());
      try {
        now.over().get(Math.max(0, left), TimeUnit.NANOSECONDS);
      } catch (TimeoutException _) {
        break;
      }
      now = known.get();
    }
    if (!now.isIn()
        || now.parts().get(partition) == Standing.LOST
        || now.as() == null
        || now.as().generationId() < 0) {
      throw new CommitFailedException(
          "the group took partition %d from this member".formatted(partition));
    }
    return now.as();
  }

  /** The broker refused what it committed as this one: it waits until it is another. */
  public void refused(ConsumerGroupMetadata as) {
    become(now -> as.equals(now.as()) ? now.joining() : now.with(now.isIn(), _ -> {}));
  }

  /**
   * Refuses to open a partition that the group has taken back: to begin its transactions would shut
   * out the present owner.
   */
  public void requireHeld(int partition) {
    if (known.get().parts().get(partition) != Standing.HELD) {
      throw new CommitFailedException(
          "the group took partition %d back before it was open".formatted(partition));
    }
  }

  /** Notes that the member asks for partitions: until the answer, its generation may end. */
  public void joins() {
    become(Known::joining);
  }

  /** The group knows it as this one, as before or since now. */
  public void is(ConsumerGroupMetadata now) {
    if (!now.equals(known.get().as())) {
      joined(now);
    }
  }

  /** The group knows it as this one, and has said which partitions it has. */
  public void joined(ConsumerGroupMetadata now) {
    become(before -> before.as(now));
  }

  /** The group gave it these partitions, or none. */
  public void given(Set<Integer> partitions) {
    become(now -> now.with(true, all -> partitions.forEach(p -> all.put(p, Standing.HELD))));
  }

  /** The group took these back. */
  public void takenBack(Set<Integer> partitions) {
    become(now -> now.with(now.isIn(), all -> all.keySet().removeAll(partitions)));
  }

  /** The group gave these to others already: nothing of them is committed here. */
  public void lost(Set<Integer> partitions) {
    become(now -> now.with(now.isIn(), all -> partitions.forEach(p -> all.put(p, Standing.LOST))));
  }

  /** Notes that this member ignores a partition for as long as it has it. */
  public void leaveAlone(int partition) {
    become(
        now ->
            now.with(
                now.isIn(), all -> all.replace(partition, Standing.HELD, Standing.LEFT_ALONE)));
  }

  /** Notes that the member has left its group. */
  public void left() {
    become(
        now ->
            new Known(false, now.as(), false, 0, now.parts(), new CompletableFuture<>())
                .with(false, all -> all.values().removeIf(one -> one != Standing.LOST)));
  }
}
