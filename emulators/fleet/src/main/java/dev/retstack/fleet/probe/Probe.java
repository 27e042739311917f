package dev.retstack.fleet.probe;

import dev.retstack.schema.codec.RecordBatch;

/**
 * Turns calls of the counting function, and returns to the landing page, into hijack records. All
 * probes give the same records for the same image.
 */
public interface Probe {
  /** Records go there from now on. What was recorded before must have been taken. */
  void recordInto(RecordBuffer buffer);

  /** The records since the last {@link #clear}; the probe goes on filling it. */
  RecordBatch batch();

  /** Forgets the records of the batch, which were taken; its counters start again at 0. */
  void clear();

  /**
   * update_ftrace_func: what becomes of entries from here on. Between two starts of the engine.
   * What is hijacked already exits as ever.
   */
  void updateFtraceFunc(SiteRules rules);

  /** enable_ftrace_graph_caller: entries are hijacked, exits recorded. */
  void enableFtraceGraphCaller();

  /** disable_ftrace_graph_caller: entries are recorded only. */
  void disableFtraceGraphCaller();

  /** Entries in this batch that were refused because ret_stack was full. */
  long overruns();

  /** Entries in this batch that were left alone because the slot did not hold the parent. */
  long unhijackable();
}
