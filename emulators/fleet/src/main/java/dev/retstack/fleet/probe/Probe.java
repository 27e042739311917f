package dev.retstack.fleet.probe;

import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.machine.delivery.HandlerListener;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import java.util.Map;

/**
 * Makes hijack records from calls of the counting function and from returns to the landing page.
 * All probes make the same records for the same image.
 */
public interface Probe extends HandlerListener {
  /** Records go there from now on. What was recorded before must have been taken. */
  void recordInto(RecordBuffer buffer);

  /** The records since the last {@link #clear}; the probe continues to fill it. */
  RecordBatch batch();

  /** Forgets the records of the batch, which were taken; its counters start again at 0. */
  void clear();

  /**
   * What is open where the batch begins; to be asked between {@link #clear} and the core's next
   * run. Null where that is not known: the batch begins with events that waited for room.
   */
  Keyframe keyframe();

  /**
   * update_ftrace_func: what becomes of entries from here on. Between two starts of the engine.
   * What is hijacked already exits as ever.
   */
  void updateFtraceFunc(SiteRules rules);

  /** True while entries are not recorded, though their sites are there. */
  boolean isPaused();

  /** From here on entries are recorded, or not. */
  void pause(boolean value);

  /**
   * Records an event other than a call, in the frame that is open. Not while recording is paused,
   * nor below a function that is hidden, nor in a call that has not lasted long enough to be
   * recorded.
   *
   * @param kind of {@link RecordBatch}
   * @param values that belong to it
   * @return true where it was recorded
   */
  boolean event(byte kind, long selfPc, long fromPc, long... values);

  /**
   * Records that tracing changed. Not in a call that has not lasted long enough to be recorded.
   *
   * @param function in which it did; 0 for none
   * @param command by which it did; 0 for none
   */
  void mark(Mark mark, long function, long time, long command);

  /**
   * Records what does not depend on calls, in any mode: that another image stands somewhere, or
   * none any more; how a task is called. Where the entries of open calls are not recorded yet, it
   * has the time of the first of them.
   *
   * @param change one MAP, UNMAP or TASK_NAME record, whose time does not count
   */
  void note(RecordBatch change);

  /** There is no code where the program went, so that no block begins there; the core has ended. */
  void fetchFailed(long address);

  /**
   * Between two runs: an interrupt begins. It gets a separate ret_stack, on top of what is open;
   * not recorded while recording is paused, unless a function is entered in it later.
   *
   * @param number its vector
   * @param pc where the core was
   */
  void interruptEnter(long number, long pc);

  /**
   * Between two runs, when the registers are those that the core continues with: the innermost
   * interrupt ends. Where none is open nothing happens; nor where calls are open in it and the
   * stack pointer is not that of what it interrupted: a task may be switched off inside of its
   * interrupt, and another task continues. Then the next call or return decides.
   *
   * @param pc where the core continues
   */
  void interruptExit(long pc);

  /**
   * Between two runs, when the registers are those that the core continues with: the core switches
   * to another thread of its program. From the first call on, the probe need not guess which task
   * an entry belongs to.
   *
   * @param id of the task
   * @param ended true where the one that ran so far is over
   */
  void threadSwitched(long id, boolean ended);

  /** The functions of the innermost open calls that are hijacked, by the ids of their tasks. */
  Map<Long, Long> innermost();

  /** True where events wait for room: the batch must be taken before the core continues. */
  boolean isWaiting();

  /** Entries in this batch that were refused because ret_stack was full. */
  long overruns();

  /** Entries in this batch that were left alone because the slot did not hold the parent. */
  long unhijackable();

  /** The first few sites of these; {@code selfPc}. */
  long[] leftAlone();

  /** Frames forgotten in this batch that may return yet: more were taken for dead than are kept. */
  long abandoned();
}
