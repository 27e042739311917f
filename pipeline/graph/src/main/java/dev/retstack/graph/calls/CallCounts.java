package dev.retstack.graph.calls;

import dev.retstack.graph.tree.Ending;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** How many calls of finished ret_stacks were seen, and how they ended. */
final class CallCounts {
  private final long[] endings = new long[Ending.count()];
  private long entries;
  private long adopted;

  void add(ShadowStack calls) {
    entries += calls.entries();
    adopted += calls.adopted();
    for (int i = 0; i < endings.length; i++) {
      endings[i] += calls.ended(Ending.of(i));
    }
  }

  void add(CallCounts other) {
    entries += other.entries;
    adopted += other.adopted;
    for (int i = 0; i < endings.length; i++) {
      endings[i] += other.endings[i];
    }
  }

  boolean isZero() {
    return entries == 0 && adopted == 0;
  }

  long entries() {
    return entries;
  }

  /** Calls that began in a loss and are known from a keyframe. */
  long adopted() {
    return adopted;
  }

  long ended(Ending ending) {
    return endings[ending.code()];
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(entries);
    out.writeLong(adopted);
    for (long n : endings) {
      out.writeLong(n);
    }
  }

  void readFrom(DataInput in) throws IOException {
    entries = in.readLong();
    adopted = in.readLong();
    long sum = 0;
    for (int i = 0; i < endings.length; i++) {
      endings[i] = in.readLong();
      sum += endings[i];
    }
    if (entries < 0 || adopted < 0 || sum != entries + adopted) {
      throw new IOException("corrupt snapshot: entries and endings of calls do not add up");
    }
  }
}
