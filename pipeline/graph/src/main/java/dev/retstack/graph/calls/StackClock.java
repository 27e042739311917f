package dev.retstack.graph.calls;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The part of a core's time that is not a ret_stack's own, by kind. It changes only when stacks are
 * switched. Between two switches the stack's own time is the core's time minus a constant.
 */
final class StackClock {
  /** Other tasks ran, or may have run while this one was switched out and records were lost. */
  long away;

  /** Interrupts ran on top. */
  long interrupts;

  /** Records are missing: what ran is not known. */
  long unsure;

  /** The stack's own time at this time of the core. */
  long ran(long time) {
    return time - away - interrupts - unsure;
  }

  void set(StackClock other) {
    away = other.away;
    interrupts = other.interrupts;
    unsure = other.unsure;
  }

  void clear() {
    away = 0;
    interrupts = 0;
    unsure = 0;
  }

  /** An interrupt on top is over that lasted so long and had this clock. */
  void add(StackClock interrupt, long lasted) {
    away += interrupt.away;
    unsure += interrupt.unsure;
    interrupts += lasted - interrupt.away - interrupt.unsure;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(away);
    out.writeLong(interrupts);
    out.writeLong(unsure);
  }

  void readFrom(DataInput in) throws IOException {
    away = in.readLong();
    interrupts = in.readLong();
    unsure = in.readLong();
    if (away < 0 || interrupts < 0 || unsure < 0) {
      throw new IOException("corrupt snapshot: a clock that runs backwards");
    }
  }
}
