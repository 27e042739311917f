package dev.retstack.graph.totals;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Totals of calls under dense ids. Adding is commutative and associative, so totals of parts can be
 * merged in any order: sums stop at the largest number instead of wrapping. Durations are never
 * negative.
 *
 * <p>All totals of one id are in one row of eight words, so that a call touches one cache line. The
 * eighth word belongs to the owner: the function of the row's calls; of totals by function, their
 * time from begin to end.
 */
public final class CallTotals {
  public static final int CALLS = 0;
  private static final int FINISHED = 1;
  private static final int TOTAL = 2;
  private static final int SUM = 3;
  private static final int SELF = 4;

  /** Shortest duration subtracted from the largest number, so that 0 stands for none. */
  private static final int MIN_LEFT = 5;

  private static final int MAX = 6;
  private static final int USED = 7;
  private static final int CALLEE = 7;
  private static final int WALL = 7;
  public static final int ROW_SHIFT = 3;
  private static final int MAX_IDS = 1 << 27;

  private long[] rows = new long[16 << ROW_SHIFT];

  /** Makes room for this id, whose calls are calls of {@code callee}. */
  void ensure(int id, int callee) {
    if (id >= MAX_IDS) {
      throw new IllegalStateException("more than " + MAX_IDS + " functions or edges");
    }
    if (id << ROW_SHIFT >= rows.length) {
      rows = Arrays.copyOf(rows, Math.max(2 * rows.length, (id + 1) << ROW_SHIFT));
    }
    rows[(id << ROW_SHIFT) + CALLEE] = callee;
  }

  /** The function whose calls are counted under this id. */
  public int callee(int id) {
    return (int) rows[(id << ROW_SHIFT) + CALLEE];
  }

  /** Counts a call. Returns the function that it is a call of. */
  public int entered(int id) {
    long[] r = rows;
    int at = id << ROW_SHIFT;
    r[at]++;
    return (int) r[at + CALLEE];
  }

  /**
   * Adds a finished call.
   *
   * @param outermost whether no other call under this id is open on the stack: recursion counts
   *     once in the total
   */
  public void finished(int id, long duration, long selfDuration, boolean outermost) {
    finished(rows, id, duration, selfDuration, outermost);
  }

  /** {@link #finished(int, long, long, boolean)} in {@link #rows}. */
  public static void finished(
      long[] rows, int id, long duration, long selfDuration, boolean outermost) {
    long[] r = rows;
    int at = id << ROW_SHIFT;
    r[at + FINISHED]++;
    if (outermost) {
      r[at + TOTAL] = Saturating.sum(r[at + TOTAL], duration);
    }
    r[at + SUM] = Saturating.sum(r[at + SUM], duration);
    r[at + SELF] = Saturating.sum(r[at + SELF], selfDuration);
    r[at + MIN_LEFT] = Math.max(r[at + MIN_LEFT], Long.MAX_VALUE - duration);
    r[at + MAX] = Math.max(r[at + MAX], duration);
  }

  /** Takes time from {@code self} that was added there but belongs to calls below. */
  public void takeSelf(int id, long time) {
    rows[(id << ROW_SHIFT) + SELF] -= time;
  }

  /** Whether no sum of this id has reached the largest number, nor would with that of another. */
  boolean isExact(int id, CallTotals other, int otherId) {
    boolean exact = true;
    for (int i = CALLS; i <= SELF; i++) {
      long sum = rows[(id << ROW_SHIFT) + i] + other.rows[(otherId << ROW_SHIFT) + i];
      exact &= sum >= 0 && sum < Long.MAX_VALUE;
    }
    return exact;
  }

  /** All rows, until {@link #ensure} makes room. */
  public long[] rows() {
    return rows;
  }

  /** Adds all totals of an id of another table. */
  void merge(int id, CallTotals other, int otherId) {
    int to = id << ROW_SHIFT;
    int from = otherId << ROW_SHIFT;
    for (int i = CALLS; i <= SELF; i++) {
      rows[to + i] = Saturating.sum(rows[to + i], other.rows[from + i]);
    }
    for (int i = MIN_LEFT; i <= MAX; i++) {
      rows[to + i] = Math.max(rows[to + i], other.rows[from + i]);
    }
  }

  /** Puts another total in its place: that of a function is not the sum over its callers. */
  void setTotal(int id, long total, long wall) {
    rows[(id << ROW_SHIFT) + TOTAL] = total;
    rows[(id << ROW_SHIFT) + WALL] = wall;
  }

  private long get(int id, int column) {
    return rows[(id << ROW_SHIFT) + column];
  }

  /** Entries seen. */
  public long calls(int id) {
    return get(id, CALLS);
  }

  /** Calls whose duration is known. */
  public long finished(int id) {
    return get(id, FINISHED);
  }

  /** Time of the finished calls and of what they called, recursion counted once. */
  public long total(int id) {
    return get(id, TOTAL);
  }

  /**
   * For {@linkplain CallProfile#functions a function}: time from begin to end of its calls,
   * recursion counted once.
   */
  public long wall(int id) {
    return get(id, WALL);
  }

  /** Durations of all finished calls, recursive ones included. */
  public long sum(int id) {
    return get(id, SUM);
  }

  /** Time of the finished calls themselves. */
  public long self(int id) {
    return get(id, SELF);
  }

  /** Shortest finished call, 0 where none finished. */
  public long min(int id) {
    return finished(id) == 0 ? 0 : Long.MAX_VALUE - get(id, MIN_LEFT);
  }

  /** Longest finished call, 0 where none finished. */
  public long max(int id) {
    return get(id, MAX);
  }

  /** Writes numbers that are mostly small in few bytes. */
  void writeTo(DataOutput out, int id) throws IOException {
    for (int i = 0; i < USED; i++) {
      Fields.writeVarint(out, i == MIN_LEFT ? Long.MAX_VALUE - get(id, i) : get(id, i));
    }
  }

  /** Reads what {@link #writeTo} wrote. */
  void readFrom(DataInput in, int id) throws IOException {
    for (int i = 0; i < USED; i++) {
      long value = Fields.readVarint(in);
      if (value < 0) {
        throw new IOException("corrupt snapshot: negative totals");
      }
      rows[(id << ROW_SHIFT) + i] = i == MIN_LEFT ? Long.MAX_VALUE - value : value;
    }
  }
}
