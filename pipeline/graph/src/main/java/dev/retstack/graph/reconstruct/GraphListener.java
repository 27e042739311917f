package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.schema.codec.Mark;
import dev.retstack.schema.codec.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Hears what reconstruction decides, in the order in which it happened. A {@code slot} names a call
 * from {@link #entered} until it is finished and all calls above it are; slots are dense and are
 * used again. Times never decrease and are never negative.
 */
public interface GraphListener {
  /** No slot. */
  int NONE = -1;

  /**
   * A call began.
   *
   * @param parent slot of the open call that encloses it, or {@link #NONE}
   * @param caller slot of the function that called it, or {@link #NONE} where unknown; differs from
   *     the parent after a tail call, when the caller has just finished
   */
  void entered(int slot, int parent, int caller, long selfPc, long time);

  /**
   * A call ended. For {@link Ending#TRUNCATED} the time is that of the loss, not of the end.
   *
   * @param parent as in {@link #entered}
   */
  void finished(int slot, int parent, long time, Ending ending);

  /**
   * Takes a run of {@linkplain RecordBatch#links linked} records at once, or none of them. It is as
   * if {@link #entered} and {@link #finished} had been called for each, each call entered by the
   * one that encloses it, in slots from {@code parent + 1} on.
   *
   * @param first index of the first record, an entry that is not earlier than any before it
   * @param room calls that may be open above the parent at a time
   * @param opened takes the index of the entry of each call that is open after the run, outermost
   *     first
   * @return index of the first record not taken
   */
  int linked(RecordBatch batch, int first, int parent, int room, IntArrayList opened);

  /**
   * A function was called whose return is not seen: no frame, no duration.
   *
   * @param parent slot of the innermost open call, or {@link #NONE}
   * @param caller slot of the function that jumped here, or {@link #NONE} where {@code fromPc}
   *     tells
   * @param fromPc address that it will return to
   */
  void called(int parent, int caller, long selfPc, long fromPc, long time);

  /**
   * A system call begins, made by the innermost open call.
   *
   * @param parent slot of that call, or {@link #NONE}
   * @param number as the architecture numbers it
   */
  void systemCall(int parent, long number, long time);

  /**
   * The system call that began last ends.
   *
   * @param result what it returned; of no meaning unless it {@link Ending#RETURNED}
   */
  void systemCallEnded(long result, long time, Ending ending);

  /**
   * Tracing changed, or somebody asked for a stack trace.
   *
   * @param parent slot of the innermost open call, or {@link #NONE}
   * @param what a code of {@link Mark}
   * @param selfPc the function where it happened, 0 for none
   * @param command number of the command that did it, 0 for none
   * @param stack selfPc of the open calls, innermost first
   */
  void mark(int parent, long what, long selfPc, long command, long time, LongList stack);

  /**
   * Values of what was told of last: arguments of a call or system call, or what a call returned.
   *
   * @param depth which, how many, how to show them: {@link dev.retstack.schema.codec.ValuesDepth}
   * @param values four of them
   */
  void values(int depth, long... values);

  /** A record comes that is not ordinary: values that follow belong to what it tells, if to any. */
  void next();

  /** Records are missing; {@link #settled} or {@link #holeOpened} says later what that means. */
  void lost(Loss loss);

  /** All losses told of so far: no call, or none more than before them, is known to be open. */
  void settled();

  /**
   * All losses told of so far: from their time on it is unknown what runs in the call of this slot,
   * until {@link #holeClosed}. Holes lie within each other.
   *
   * @param slot or {@link #NONE}
   */
  void holeOpened(int slot);

  /**
   * The innermost hole ends.
   *
   * @param slot as in {@link #holeOpened}
   * @param lasted how long the stack itself ran meanwhile
   */
  void holeClosed(int slot, long lasted, long now);

  /** The call of this slot, which was {@link Ending#TRUNCATED}, had ended by now. */
  void bounded(int slot, long now);

  /** From now on slots are those of this context; of a handle not in use, an empty one. */
  default void resumed(StackContext context) {}

  /** The records that follow are of a task that is not kept. */
  default void nowhere() {}

  /** The context is over: no slot of it is in use. Its handle will be used for another. */
  default void closed(StackContext context) {}

  /**
   * Which of the core's time is not that of the context at hand, from now on: a call's own time is
   * the core's less what the sum of the three grew by.
   *
   * @param away for which other tasks ran, or may have run
   * @param interrupts for which interrupts ran on top
   * @param unsure for which records are missing, and nobody knows
   */
  default void clock(long away, long interrupts, long unsure) {}

  /**
   * The task at hand is switched out.
   *
   * @param parent slot of its innermost open call, or {@link #NONE}
   * @param next the task that goes on
   */
  default void switchedOut(int parent, CoreTask next, long time) {}

  /**
   * The task at hand is switched in again.
   *
   * @param known until when it is known that it was out, negative where that is {@code time}
   */
  default void switchedIn(long known, long time) {}

  /**
   * The context at hand is interrupted; {@link #resumed} follows with that of the interrupt.
   *
   * @param parent slot of the innermost open call, or {@link #NONE}
   * @param interrupt the new context
   * @param fromPc where the context at hand was
   */
  default void interrupted(int parent, StackContext interrupt, long fromPc, long time) {}

  /**
   * The interrupt at hand is over, {@link #closed} follows; or, where it was cut off by a loss,
   * another may have taken its place.
   *
   * @param lasted how long it ran itself
   */
  default void interruptEnded(long lasted, long time, Ending ending) {}

  /**
   * Something is wrong, odd or missing.
   *
   * @param selfPc the function concerned, 0 = none
   * @param place see {@link Anomaly#place}
   * @param count frames, calls or records concerned
   * @return whether {@link #anomaly} shall follow; what is not wanted is only counted
   */
  boolean found(AnomalyKind kind, long selfPc, long place, long time, long count);

  /** What was found, with all that is known of it; called only where {@link #found} said so. */
  void anomaly(Anomaly anomaly);

  /** Adds to a stat. */
  void count(Stat stat, long amount);
}
