package dev.retstack.answers.history;

import dev.retstack.schema.HistorySlot;
import dev.retstack.schema.PartHistory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.TreeMap;

/**
 * The last half hour of one member in slots of {@value #SLOT_MILLIS} ms: samples in, slots out. It
 * has no clock and no thread. What was counted between two samples is divided among the slots
 * between them, so that a late sample makes no gap, and the slots add up to what was counted.
 */
public final class History {
  /** How long a slot is. */
  public static final int SLOT_MILLIS = 5_000;

  /** Slots that are kept; half an hour. */
  static final int SLOTS = 360;

  /** A level that is not known. */
  private static final long UNKNOWN = -1;

  /**
   * What a member has counted since it began; it never goes back.
   *
   * @param records trace records applied
   * @param checkpointBytes bytes of checkpoints sent to Kafka
   * @param checkpointNanos of a processor, for checkpoints
   */
  public record Counts(long records, long checkpointBytes, long checkpointNanos) {
    static final Counts NONE = new Counts(0, 0, 0);

    private Counts since(Counts before) {
      return new Counts(
          Math.max(0, records - before.records),
          Math.max(0, checkpointBytes - before.checkpointBytes),
          Math.max(0, checkpointNanos - before.checkpointNanos));
    }

    private Counts plus(Counts other) {
      return new Counts(
          records + other.records,
          checkpointBytes + other.checkpointBytes,
          checkpointNanos + other.checkpointNanos);
    }

    private Counts share(double share) {
      return new Counts(
          (long) (records * share),
          (long) (checkpointBytes * share),
          (long) (checkpointNanos * share));
    }
  }

  /**
   * State of a member's open partitions at the end of a slot.
   *
   * @param partitions how many they are
   * @param lag Kafka records that are not in their states; negative if Kafka did not answer
   * @param lost records known to be lost, since the job began
   */
  public record Levels(int partitions, long lag, long lost) {
    static final Levels NONE = new Levels(0, 0, 0);

    private Levels plus(Levels other) {
      boolean known = lag >= 0 && other.lag >= 0;
      return new Levels(
          partitions + other.partitions, known ? lag + other.lag : UNKNOWN, lost + other.lost);
    }
  }

  /**
   * A slot.
   *
   * @param number of slots since 1970, by the clock of the member that reports it
   * @param members that had it
   */
  public record Slot(long number, Counts counts, Levels levels, int members) {
    /** When it began, in milliseconds since 1970. */
    public long millis() {
      return number * SLOT_MILLIS;
    }

    private Slot plus(Slot other) {
      return new Slot(
          number, counts.plus(other.counts), levels.plus(other.levels), members + other.members);
    }
  }

  /**
   * What a member reports of its past.
   *
   * @param millis its time when it reported
   * @param slots those that are over, without gaps
   */
  public record Past(long millis, List<Slot> slots) {
    public Past {
      slots = List.copyOf(slots);
    }

    /** The record that another member gets. */
    public PartHistory written() {
      return new PartHistory(
          millis,
          slots.stream()
              .map(
                  slot ->
                      HistorySlot.newBuilder()
                          .setNumber(slot.number)
                          .setRecords(slot.counts.records)
                          .setCheckpointBytes(slot.counts.checkpointBytes)
                          .setCheckpointNanos(slot.counts.checkpointNanos)
                          .setPartitions(slot.levels.partitions)
                          .setLag(slot.levels.lag)
                          .setLost(slot.levels.lost)
                          .build())
              .toList());
    }

    /**
     * Reads what another member wrote.
     *
     * @throws IOException if it has more slots than a member keeps
     */
    public static Past of(PartHistory written) throws IOException {
      if (written.getSlots().size() > SLOTS) {
        throw new IOException(written.getSlots().size() + " slots");
      }
      List<Slot> slots = new ArrayList<>();
      for (HistorySlot slot : written.getSlots()) {
        slots.add(
            new Slot(
                slot.getNumber(),
                new Counts(slot.getRecords(), slot.getCheckpointBytes(), slot.getCheckpointNanos()),
                new Levels(slot.getPartitions(), slot.getLag(), slot.getLost()),
                1));
      }
      return new Past(written.getMillis(), slots);
    }
  }

  private final Deque<Slot> slots = new ArrayDeque<>();
  private long lastMillis;
  private Counts last = Counts.NONE;

  /**
   * A past that begins now, with all counts at 0.
   *
   * @param millis now, in milliseconds since 1970
   */
  public History(long millis) {
    this.lastMillis = millis;
    slots.add(new Slot(slotOf(millis), Counts.NONE, Levels.NONE, 1));
  }

  private static long slotOf(long millis) {
    return Math.floorDiv(millis, SLOT_MILLIS);
  }

  /**
   * A sample. A time before the last one counts as that one, a count that is lower as nothing.
   *
   * @param millis when it was taken, in milliseconds since 1970
   */
  public void add(long millis, Counts counts, Levels levels) {
    long now = Math.max(millis, lastMillis);
    Counts more = counts.since(last);
    long slot = slotOf(now);
    Counts given = Counts.NONE;
    for (long number = Math.max(slotOf(lastMillis), slot - SLOTS); number <= slot; number++) {
      long end = (number + 1) * SLOT_MILLIS;
      Counts upToEnd =
          number == slot ? more : more.share((double) (end - lastMillis) / (now - lastMillis));
      put(new Slot(number, upToEnd.since(given), levels, 1));
      given = upToEnd;
    }
    lastMillis = now;
    last = counts;
  }

  /** The levels of the later sample are those of the slot. */
  private void put(Slot slot) {
    Slot newest = slots.getLast();
    if (newest.number == slot.number) {
      slots.removeLast();
      slots.add(new Slot(slot.number, newest.counts.plus(slot.counts), slot.levels, 1));
    } else {
      slots.add(slot);
    }
    while (slots.size() > SLOTS + 1) {
      slots.removeFirst();
    }
  }

  /**
   * The slots that are over: a sample of a later one has come.
   *
   * @param millis now, in milliseconds since 1970
   */
  public Past window(long millis) {
    List<Slot> over = new ArrayList<>(slots);
    over.removeLast();
    return new Past(millis, over);
  }

  /**
   * The past of several members, by the clock of the first. It ends with the last slot that all of
   * them have, so that one that is late makes no dip.
   */
  public static List<Slot> merge(List<Past> members) {
    TreeMap<Long, Slot> merged = new TreeMap<>();
    long end = Long.MAX_VALUE;
    for (Past told : members) {
      long ahead = Math.round((double) (told.millis - members.getFirst().millis) / SLOT_MILLIS);
      for (Slot slot : told.slots) {
        long number = slot.number - ahead;
        merged.merge(number, new Slot(number, slot.counts, slot.levels, slot.members), Slot::plus);
      }
      if (!told.slots.isEmpty()) {
        end = Math.min(end, told.slots.getLast().number - ahead);
      }
    }
    return List.copyOf(merged.headMap(end, true).values());
  }
}
