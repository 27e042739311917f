package dev.retstack.graph.totals;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.Long2ObjectRBTreeMap;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** How often each interrupt came and how long it ran, by number. */
public final class InterruptTotals {
  /** Interrupt numbers with separate totals; the rest is counted under {@link #OTHERS}. */
  private static final int MAX_NUMBERS = 4096;

  private static final int NUMBER_BYTES = 88;

  /** Stands for the numbers beyond the limit. */
  public static final long OTHERS = -1;

  /**
   * The totals of one number.
   *
   * @param count that began
   * @param finished that are known to have ended
   * @param total time for which those ran themselves, interrupts on top of them left out
   * @param max the longest of them
   */
  public record Totals(long count, long finished, long total, long max) {
    static final Totals NONE = new Totals(0, 0, 0, 0);

    /** Both together. */
    public Totals plus(Totals other) {
      return new Totals(
          Saturating.sum(count, other.count),
          Saturating.sum(finished, other.finished),
          Saturating.sum(total, other.total),
          Math.max(max, other.max));
    }
  }

  private final Long2ObjectRBTreeMap<Totals> numbers = new Long2ObjectRBTreeMap<>();
  private final StateBudget.Account account;

  public InterruptTotals(StateBudget.Account account) {
    this.account = account;
  }

  public void begun(long number) {
    add(number, new Totals(1, 0, 0, 0));
  }

  public void ended(long number, long lasted) {
    add(number, new Totals(0, 1, lasted, lasted));
  }

  private void add(long number, Totals more) {
    boolean room =
        numbers.containsKey(number) || (numbers.size() < MAX_NUMBERS && account.take(NUMBER_BYTES));
    numbers.merge(room ? number : OTHERS, more, Totals::plus);
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
      Totals t = get(number);
      out.writeLong(number);
      out.writeLong(t.count());
      out.writeLong(t.finished());
      out.writeLong(t.total());
      out.writeLong(t.max());
    }
  }

  public void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, MAX_NUMBERS + 1, "numbers of interrupts");
    account.charge((long) NUMBER_BYTES * count);
    for (int i = 0; i < count; i++) {
      numbers.put(
          in.readLong(), new Totals(in.readLong(), in.readLong(), in.readLong(), in.readLong()));
    }
  }
}
