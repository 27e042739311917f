package dev.retstack.service.consume;

import dev.retstack.service.partition.Feed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a member does with each partition that the group gives it: a pure state machine. Its input
 * is an event and the time; its output is orders, which {@link EventFeed} carries out. It knows no
 * Kafka, no actor and no clock.
 *
 * <pre>
 *   assigned ──▶ WAITING ──tick──▶ OPENING ──opened──▶ FLOWING ◀──taken──▶ PAUSED
 *                   ▲                 └───────────────────┴────────┬─────────┘
 *                   │                                 failed, revoked or lost
 *                   └──closed, where the group still gives it── CLOSING ──closed──▶ gone
 * </pre>
 *
 * <ul>
 *   <li>There is never a second owner: a partition that comes back waits until the former owner is
 *       closed, of which nothing is heard after that.
 *   <li>Only {@link #tick} opens: never inside a callback of a rebalance.
 *   <li>The consumer is ordered about for partitions only that the group gives.
 *   <li>A partition that fails is opened again by itself, later after each failure.
 * </ul>
 */
final class PartitionTable {
  /** Records on their way to an owner from which on no more are fetched for it. */
  static final int ENOUGH = 8;

  static final Duration FIRST_BACKOFF = Duration.ofMillis(200);
  static final Duration LONGEST_BACKOFF = Duration.ofSeconds(20);

  /** A partition that was open for so long was well: its next failure is a first one. */
  private static final Duration WELL = Duration.ofMinutes(1);

  /** Where a partition stands. */
  enum Phase {
    /** The partition is opened as soon as it is time. */
    WAITING,
    /** The owner loads the state. */
    OPENING,
    /** Records are fetched for it. */
    FLOWING,
    /** The owner has enough records for now. */
    PAUSED,
    /** The owner was asked to stop, or failed, and is not gone yet. */
    CLOSING,
    /** Records are ignored: this member cannot continue from the partition's checkpoint. */
    LEFT_ALONE
  }

  /** What is to be done, in this order. */
  sealed interface Order {
    int partition();

    /** Fetch nothing of it. */
    record Pause(int partition) implements Order {}

    /** Fetch it. */
    record Resume(int partition) implements Order {}

    /** Fetch it from this offset on. */
    record Seek(int partition, long offset) implements Order {}

    /** Make an owner, which loads its state. */
    record Open(int partition) implements Order {}

    /** The owner writes a last checkpoint and stops. */
    record Close(int partition) implements Order {}

    /** The owner stops and writes nothing. */
    record Drop(int partition) implements Order {}
  }

  private static final class Part {
    Phase phase = Phase.WAITING;

    /** The group gives it. */
    boolean given = true;

    /** True where the owner had its state when it was asked to close. */
    boolean drains;

    boolean leaveAlone;
    int onTheirWay;
    long openedNanos;
    long dueNanos;
    Duration backoff = Duration.ZERO;
  }

  private final Map<Integer, Part> parts = new TreeMap<>();

  /** The group gave it. */
  List<Order> assigned(int partition) {
    Part part = parts.computeIfAbsent(partition, _ -> new Part());
    part.given = true;
    part.leaveAlone = false;
    part.backoff = Duration.ZERO;
    // with any position the consumer does not ask for the committed one
    return List.of(new Order.Pause(partition), new Order.Seek(partition, 0));
  }

  /** The group takes it back, and waits while it {@link #drains}. */
  List<Order> revoked(int partition) {
    return goes(partition, new Order.Close(partition));
  }

  /** The group gave it to another member already. */
  List<Order> lost(int partition) {
    return goes(partition, new Order.Drop(partition));
  }

  /** The member is in no group any more. */
  List<Order> left() {
    List<Order> orders = new ArrayList<>();
    Set.copyOf(parts.keySet()).forEach(partition -> orders.addAll(lost(partition)));
    return orders;
  }

  private List<Order> goes(int partition, Order how) {
    Part part = parts.get(partition);
    if (part == null) {
      return List.of();
    }
    part.given = false;
    return switch (part.phase) {
      case WAITING, LEFT_ALONE -> {
        parts.remove(partition);
        yield List.of();
      }
      case OPENING, FLOWING, PAUSED -> {
        part.drains = part.phase != Phase.OPENING && how instanceof Order.Close;
        part.phase = Phase.CLOSING;
        yield List.of(how);
      }
      case CLOSING -> {
        part.drains &= how instanceof Order.Close;
        yield how instanceof Order.Drop ? List.of(how) : List.of();
      }
    };
  }

  /** The owner has the state, and wants records from this offset on. */
  List<Order> opened(int partition, long offset, long nowNanos) {
    Part part = parts.get(partition);
    if (part.phase != Phase.OPENING) {
      return List.of(); // it goes
    }
    part.phase = Phase.FLOWING;
    part.onTheirWay = 0;
    part.openedNanos = nowNanos;
    return List.of(new Order.Seek(partition, offset), new Order.Resume(partition));
  }

  /** Counts records that were fetched and handed to the owner. */
  List<Order> recordsHanded(int partition, int records) {
    Part part = parts.get(partition);
    part.onTheirWay += records;
    if (part.onTheirWay < ENOUGH) {
      return List.of();
    }
    part.phase = Phase.PAUSED;
    return List.of(new Order.Pause(partition));
  }

  /** Counts records that the owner has finished. */
  List<Order> recordsTaken(int partition, int records) {
    Part part = parts.get(partition);
    part.onTheirWay -= records;
    if (part.phase != Phase.PAUSED || part.onTheirWay > Feed.FEW) {
      return List.of();
    }
    part.phase = Phase.FLOWING;
    return List.of(new Order.Resume(partition));
  }

  /** The owner failed, and stops by itself; the partition is opened again after a while. */
  List<Order> failed(int partition, long nowNanos) {
    Part part = parts.get(partition);
    if (part.phase == Phase.CLOSING) {
      return List.of(); // it goes
    }
    boolean wasWell = part.phase != Phase.OPENING && nowNanos - part.openedNanos > WELL.toNanos();
    part.backoff = wasWell || part.backoff.isZero() ? FIRST_BACKOFF : longer(part.backoff);
    part.dueNanos = nowNanos + part.backoff.toNanos();
    part.phase = Phase.CLOSING;
    return List.of(new Order.Pause(partition));
  }

  /** The owner failed, and so would any other owner here. */
  List<Order> leftAlone(int partition, long nowNanos) {
    List<Order> orders = failed(partition, nowNanos);
    parts.get(partition).leaveAlone = !orders.isEmpty();
    return orders;
  }

  /** The owner is gone; if it was not asked to stop, it has failed. */
  List<Order> closed(int partition, long nowNanos) {
    Part part = parts.get(partition);
    List<Order> orders = failed(partition, nowNanos);
    part.drains = false;
    part.phase = part.leaveAlone ? Phase.LEFT_ALONE : Phase.WAITING;
    if (!part.given) {
      parts.remove(partition);
    }
    return orders;
  }

  /** Opens those for which it is time. */
  List<Order> tick(long nowNanos) {
    List<Order> orders = new ArrayList<>();
    parts.forEach(
        (partition, part) -> {
          boolean isDue = part.backoff.isZero() || nowNanos - part.dueNanos >= 0;
          if (part.phase == Phase.WAITING && isDue) {
            part.phase = Phase.OPENING;
            orders.add(new Order.Open(partition));
          }
        });
    return orders;
  }

  /** How long to wait after another failure. */
  static Duration longer(Duration backoff) {
    Duration twice = backoff.multipliedBy(2);
    return twice.compareTo(LONGEST_BACKOFF) > 0 ? LONGEST_BACKOFF : twice;
  }

  /** True while one of them writes its last checkpoint. */
  boolean drains(Set<Integer> some) {
    return some.stream().map(parts::get).anyMatch(part -> part != null && part.drains);
  }

  /** True where an owner has enough for now. */
  boolean isSomePaused() {
    return parts.values().stream().anyMatch(part -> part.phase == Phase.PAUSED);
  }

  /** True where no owner is left and nothing is given. */
  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Where it stands; null where it is not here. */
  Phase phase(int partition) {
    Part part = parts.get(partition);
    return part == null ? null : part.phase;
  }
}
