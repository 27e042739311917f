package dev.retstack.graph.totals;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.Long2ObjectRBTreeMap;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** How often each system call was made, how often it failed, and how long it took, by number. */
public final class SystemCallTotals {
  /** System call numbers with separate totals; the rest is counted under {@link #OTHERS}. */
  private static final int MAX_NUMBERS = 4096;

  private static final int NUMBER_BYTES = 80;

  /** Stands for the numbers beyond the limit. */
  public static final long OTHERS = -1;

  /** Largest error number of Linux: results from -4095 to -1 are errors. */
  private static final long MAX_ERRNO = 4095;

  /**
   * The totals of one number.
   *
   * @param calls begun
   * @param errors ended with an error number
   * @param time of all that returned
   */
  public record Totals(long calls, long errors, long time) {
    static final Totals NONE = new Totals(0, 0, 0);

    Totals plus(Totals other) {
      return new Totals(
          Saturating.sum(calls, other.calls),
          Saturating.sum(errors, other.errors),
          Saturating.sum(time, other.time));
    }
  }

  private final Long2ObjectRBTreeMap<Totals> numbers = new Long2ObjectRBTreeMap<>();
  private final StateBudget.Account account;

  /** Totals of several cores, for a report. */
  public SystemCallTotals() {
    this(StateBudget.UNLIMITED.open(0));
  }

  public SystemCallTotals(StateBudget.Account account) {
    this.account = account;
  }

  /** Whether a result is an error number, as system calls return them. */
  public static boolean isError(long result) {
    return result < 0 && result >= -MAX_ERRNO;
  }

  public void begun(long number) {
    add(number, new Totals(1, 0, 0));
  }

  public void returned(long number, long result, long time) {
    add(number, new Totals(0, isError(result) ? 1 : 0, time));
  }

  private void add(long number, Totals more) {
    boolean room =
        numbers.containsKey(number) || (numbers.size() < MAX_NUMBERS && account.take(NUMBER_BYTES));
    numbers.merge(room ? number : OTHERS, more, Totals::plus);
  }

  /** Whether each number of another has separate totals here too, once it is merged. */
  public boolean hasRoomFor(SystemCallTotals other) {
    return numbers.size() + other.numbers.size() <= MAX_NUMBERS
        && !other.numbers.containsKey(OTHERS);
  }

  /** Adds all of another core. */
  public void merge(SystemCallTotals other) {
    other.numbers.long2ObjectEntrySet().forEach(e -> add(e.getLongKey(), e.getValue()));
  }

  /** The numbers in ascending order. */
  public long[] numbers() {
    return numbers.keySet().toLongArray();
  }

  /** Totals of a number. */
  public Totals get(long number) {
    return numbers.getOrDefault(number, Totals.NONE);
  }

  public void writeTo(DataOutput out) throws IOException {
    out.writeInt(numbers.size());
    for (long number : numbers()) {
      out.writeLong(number);
      out.writeLong(get(number).calls());
      out.writeLong(get(number).errors());
      out.writeLong(get(number).time());
    }
  }

  public void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, MAX_NUMBERS + 1, "numbers of system calls");
    account.charge((long) NUMBER_BYTES * count);
    for (int i = 0; i < count; i++) {
      numbers.put(in.readLong(), new Totals(in.readLong(), in.readLong(), in.readLong()));
    }
  }
}
