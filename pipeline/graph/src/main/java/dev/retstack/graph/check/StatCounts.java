package dev.retstack.graph.check;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** Exact counts of all stats. Columns by ordinal: never stored, snapshots carry the names. */
@SuppressWarnings("EnumOrdinal")
public final class StatCounts {
  private final long[] counts = new long[Stat.count()];

  /** Adds a non-negative amount. */
  public void add(Stat stat, long amount) {
    counts[stat.ordinal()] = Saturating.sum(counts[stat.ordinal()], amount);
  }

  /** Adds all counts of another. */
  public void add(StatCounts other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] = Saturating.sum(counts[i], other.counts[i]);
    }
  }

  public long get(Stat stat) {
    return counts[stat.ordinal()];
  }

  /** Calls that the capture reported as not traced, whatever the reason. */
  public long untraced() {
    return Saturating.sum(get(Stat.OVERRUNS), get(Stat.UNHIJACKABLE));
  }

  public void writeTo(DataOutput out) throws IOException {
    out.writeInt((int) Arrays.stream(counts).filter(count -> count != 0).count());
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] != 0) {
        Fields.writeText(out, Stat.of(i).name());
        out.writeLong(counts[i]);
      }
    }
  }

  public void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, counts.length, "stats");
    for (int i = 0; i < count; i++) {
      Stat stat = Fields.readEnum(in, Stat.class);
      long value = in.readLong();
      if (value < 0) {
        throw new IOException("corrupt snapshot: " + value + " of " + stat);
      }
      counts[stat.ordinal()] = value;
    }
  }
}
