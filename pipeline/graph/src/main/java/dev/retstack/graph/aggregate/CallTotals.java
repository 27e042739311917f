package dev.retstack.graph.aggregate;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Totals of calls under dense ids, in primitive columns. Adding is commutative and associative, so
 * totals of parts can be merged in any order: sums stop at the largest number instead of wrapping.
 * Durations are never negative.
 */
public final class CallTotals {
  private static final int INITIAL = 16;

  private long[] calls = new long[INITIAL];
  private long[] finished = new long[INITIAL];
  private long[] total = new long[INITIAL];
  private long[] sum = new long[INITIAL];
  private long[] self = new long[INITIAL];
  private long[] min = new long[INITIAL];
  private long[] max = new long[INITIAL];

  /** Makes room for this id. */
  void ensure(int id) {
    if (id >= calls.length) {
      int capacity = Math.max(2 * calls.length, id + 1);
      int old = calls.length;
      calls = Arrays.copyOf(calls, capacity);
      finished = Arrays.copyOf(finished, capacity);
      total = Arrays.copyOf(total, capacity);
      sum = Arrays.copyOf(sum, capacity);
      self = Arrays.copyOf(self, capacity);
      min = Arrays.copyOf(min, capacity);
      max = Arrays.copyOf(max, capacity);
      Arrays.fill(min, old, capacity, Long.MAX_VALUE);
    }
    if (calls[id] == 0) {
      min[id] = Long.MAX_VALUE;
    }
  }

  void entered(int id) {
    calls[id]++;
  }

  /**
   * @param outermost whether no other call under this id is open on the stack: recursion counts
   *     once in the total
   */
  void finished(int id, long duration, long selfDuration, boolean outermost) {
    finished[id]++;
    if (outermost) {
      total[id] = sum(total[id], duration);
    }
    sum[id] = sum(sum[id], duration);
    self[id] = sum(self[id], selfDuration);
    if (duration < min[id]) {
      min[id] = duration;
    }
    if (duration > max[id]) {
      max[id] = duration;
    }
  }

  void merge(int id, CallTotals other, int otherId) {
    ensure(id);
    calls[id] = sum(calls[id], other.calls[otherId]);
    finished[id] = sum(finished[id], other.finished[otherId]);
    total[id] = sum(total[id], other.total[otherId]);
    sum[id] = sum(sum[id], other.sum[otherId]);
    self[id] = sum(self[id], other.self[otherId]);
    min[id] = Math.min(min[id], other.min[otherId]);
    max[id] = Math.max(max[id], other.max[otherId]);
  }

  /** Sum of two non-negative numbers that stops at the largest instead of wrapping. */
  static long sum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** Entries seen. */
  public long calls(int id) {
    return calls[id];
  }

  /** Calls whose duration is known. */
  public long finished(int id) {
    return finished[id];
  }

  /** Time of the finished calls and of what they called, recursion counted once. */
  public long total(int id) {
    return total[id];
  }

  /** Durations of all finished calls, recursive ones included. */
  public long sum(int id) {
    return sum[id];
  }

  /** Time of the finished calls themselves. */
  public long self(int id) {
    return self[id];
  }

  /** Shortest finished call, 0 where none finished. */
  public long min(int id) {
    return finished[id] == 0 ? 0 : min[id];
  }

  /** Longest finished call, 0 where none finished. */
  public long max(int id) {
    return max[id];
  }

  void write(DataOutput out, int id) throws IOException {
    out.writeLong(calls[id]);
    out.writeLong(finished[id]);
    out.writeLong(total[id]);
    out.writeLong(sum[id]);
    out.writeLong(self[id]);
    out.writeLong(min[id]);
    out.writeLong(max[id]);
  }

  void read(DataInput in, int id) throws IOException {
    ensure(id);
    calls[id] = in.readLong();
    finished[id] = in.readLong();
    total[id] = in.readLong();
    sum[id] = in.readLong();
    self[id] = in.readLong();
    min[id] = in.readLong();
    max[id] = in.readLong();
    if ((calls[id] | finished[id] | total[id] | sum[id] | self[id] | min[id] | max[id]) < 0) {
      throw new IOException("corrupt snapshot: negative totals");
    }
  }
}
