package dev.retstack.graph.check;

import static dev.retstack.graph.check.Severity.ERROR;
import static dev.retstack.graph.check.Severity.INFO;
import static dev.retstack.graph.check.Severity.WARNING;
import static dev.retstack.graph.check.Source.ANALYSIS;
import static dev.retstack.graph.check.Source.CAPTURE;
import static dev.retstack.graph.check.Source.WIRE;

/** The named counts of losses and defects. Counts are exact, even if rows are not kept. */
public enum Stat {
  LOST_RECORDS(ERROR, CAPTURE, true, "records dropped at the core before they were drained"),
  OVERRUNS(WARNING, CAPTURE, true, "calls that ran untraced because ret_stack was full"),
  UNHIJACKABLE(
      WARNING, CAPTURE, true, "calls that ran untraced because the slot held no return address"),
  ABANDONED_CALLS(
      INFO,
      CAPTURE,
      false,
      "unwound calls that a longjmp or a switch of stacks left: their return would not be seen"),
  TIME_BACKWARDS(WARNING, CAPTURE, true, "records older than the one before; counted as equal"),
  FAULTED_CORES(ERROR, CAPTURE, true, "cores that ended because guest or emulator failed"),
  WAITING_CORES(WARNING, CAPTURE, true, "cores that wait for an interrupt that never comes"),
  STACK_SMASHES(ERROR, CAPTURE, true, "returns to an address that had overwritten the true one"),

  GAP_RECORDS(ERROR, WIRE, true, "records in chunks that never came"),
  GAP_CHUNKS(ERROR, WIRE, false, "chunks that never came"),
  STALE_CHUNKS(INFO, WIRE, false, "chunks that came again, and were ignored"),
  LATE_CHUNKS(
      ERROR, WIRE, false, "chunks that came after a later one of their core: lost, and refused"),
  CONTRADICTORY_CHUNKS(
      ERROR,
      WIRE,
      false,
      "chunks refused: another image or unit than their core, or after its end"),
  CORRUPT_CHUNKS(ERROR, WIRE, false, "chunks refused as corrupt"),
  CUT_TRACES(ERROR, WIRE, false, "recorded traces that were cut off: their end is missing"),
  COUNT_DISAGREES(ERROR, WIRE, true, "chunks that claim fewer records before them than came"),
  CONTEXTS_DISAGREE(
      WARNING, WIRE, false, "records or chunks that contradict which task or interrupt was open"),
  BROKEN_CHUNKS(
      ERROR,
      WIRE,
      false,
      "chunks refused because one of them made reconstruction of their core fail"),
  MAPS_DISAGREE(
      ERROR, WIRE, false, "keyframes with other mappings of images than the records before told"),
  MAPS_OVERLAP(WARNING, WIRE, true, "mappings of an image over another, which they replaced"),
  MAPS_NOT_KEPT(
      WARNING, WIRE, true, "mappings beyond the limit, or whose image cannot be told from another"),
  IMAGES_UNKNOWN(
      WARNING, WIRE, false, "mappings of images that were not published: no names of functions"),
  BAD_RECORDS(ERROR, WIRE, true, "records of an unknown kind or an impossible depth, ignored"),

  FRAME_POINTER_MISMATCHES(ERROR, ANALYSIS, true, "exits with another frame pointer than at entry"),
  RETURN_ADDRESS_MISMATCHES(
      ERROR, ANALYSIS, true, "exits with another return address or slot than at entry"),
  MISPLACED_EXITS(ERROR, ANALYSIS, true, "exits without a matching entry"),
  KEYFRAME_MISMATCHES(
      ERROR, ANALYSIS, false, "ret_stacks that differ from those of the core where a chunk begins"),
  STACK_JUMPS(WARNING, ANALYSIS, true, "entries deeper than the known stack without a loss"),
  TAIL_CALLS(INFO, ANALYSIS, true, "calls that ended by jumping to another function"),
  UNWOUND_CALLS(INFO, ANALYSIS, true, "calls that ended without returning (longjmp, exception)"),
  MISSED_EXITS(
      ERROR,
      ANALYSIS,
      true,
      "calls that returned unseen, through another slot than the hijacked copy"),
  STACK_SWITCHES(INFO, ANALYSIS, true, "times that the core switched to another task"),
  TASKS_NOT_KEPT(
      WARNING, ANALYSIS, true, "records of tasks and interrupts beyond the limit, left out"),
  FRAMES_NOT_KEPT(
      WARNING, ANALYSIS, true, "entries and exits deeper than the core's stacks have room for"),
  ENDED_CALLS(INFO, ANALYSIS, true, "calls still open when their core or the window ended"),
  TRUNCATED_CALLS(WARNING, ANALYSIS, true, "calls cut off by a loss, their end unknown"),
  RECOVERED_CALLS(
      INFO, ANALYSIS, true, "calls open at a loss that provably continued, with a known end"),
  ADOPTED_CALLS(
      INFO,
      ANALYSIS,
      true,
      "calls that began in a loss or before the window, known from the core's own ret_stack"),
  OPEN_CALLS(INFO, ANALYSIS, true, "calls still open at the end of the data"),
  UNKNOWN_EXITS(INFO, ANALYSIS, true, "exits of calls whose entry was lost"),
  STATE_FULL(
      WARNING,
      ANALYSIS,
      false,
      "times that something new of a core was left out because --state-mib had no room for it"),
  FUNCTIONS_NOT_KEPT(WARNING, ANALYSIS, true, "calls of functions beyond the limit of the table"),
  EDGES_NOT_KEPT(WARNING, ANALYSIS, true, "calls over edges beyond the limit of the table"),
  ANOMALIES_NOT_KEPT(INFO, ANALYSIS, false, "anomalies counted but not kept as rows"),
  TREE_CALLS_NOT_KEPT(INFO, ANALYSIS, false, "calls counted but not kept in the call tree"),
  VALUES_NOT_KEPT(INFO, ANALYSIS, false, "records of values counted but not kept in the call tree");

  private static final Stat[] ALL = values();

  private final Severity severity;
  private final Source source;
  private final boolean partOfResult;
  private final String sentence;

  Stat(Severity severity, Source source, boolean partOfResult, String sentence) {
    this.severity = severity;
    this.source = source;
    this.partOfResult = partOfResult;
    this.sentence = sentence;
  }

  public Severity severity() {
    return severity;
  }

  public Source source() {
    return source;
  }

  /** False for counts that depend on delivery, chunking or limits: they stay out of the hash. */
  public boolean partOfResult() {
    return partOfResult;
  }

  /** What one unit of the count is, in words that complete "12 ...". */
  public String sentence() {
    return sentence;
  }

  /** Number of stats. */
  public static int count() {
    return ALL.length;
  }

  /** The stat of this ordinal. */
  public static Stat of(int ordinal) {
    return ALL[ordinal];
  }
}
