package dev.retstack.graph.totals;

import java.util.ArrayList;
import java.util.List;

/**
 * What counts in the total of a call, named as ftrace's options. A call's self time is always what
 * it ran itself: no task that ran meanwhile, no interrupt, no call below it.
 *
 * @param sleepTime whether time in which its task was switched out counts
 * @param graphTime whether the calls below it count
 * @param interrupts whether interrupts on top of it count, and are shown at all (funcgraph-irqs)
 */
public record TimeRules(boolean sleepTime, boolean graphTime, boolean interrupts) {
  /** The time in which a call's task ran counts, with the calls below and interrupts on top. */
  public static final TimeRules DEFAULT = new TimeRules(false, true, true);

  /** ftrace's names of what does not count. */
  public List<String> off() {
    List<String> off = new ArrayList<>();
    if (!sleepTime) {
      off.add("sleep-time");
    }
    if (!graphTime) {
      off.add("graph-time");
    }
    if (!interrupts) {
      off.add("funcgraph-irqs");
    }
    return List.copyOf(off);
  }

  /** All rules in one number. */
  public int bits() {
    return (sleepTime ? 1 : 0) | (graphTime ? 2 : 0) | (interrupts ? 4 : 0);
  }

  /** The rules of {@link #bits}. */
  public static TimeRules of(int bits) {
    return new TimeRules((bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0);
  }

  /**
   * Which of the core's time does not count in totals, by what it went to. A call that is open
   * across a loss may have run in it: only where interrupts do not count is that too much.
   */
  public long leftOut(long away, long inInterrupts, long unsure) {
    return (sleepTime ? 0 : away) + (interrupts ? 0 : inInterrupts + unsure);
  }
}
