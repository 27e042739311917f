package dev.retstack.graph.check;

/**
 * What a person should look at: what is wrong or missing in the records of a core. ANOMALIES.md has
 * an example of each. What an ordinary program does (tail calls, exceptions, its longjmp, switches
 * of tasks) is a row or an ending of the call tree, and a stat.
 */
public enum AnomalyKind {
  FAULTED(
      Stat.FAULTED_CORES,
      Severity.ERROR,
      "the core ended because guest or emulator failed; the stack is what was open then",
      "a wild pointer, a smashed stack, abort, or memory of the board that was not declared",
      "look at the place and its callers; memory of a board: --ram BASE:SIZE; a smashed stack has "
          + "a separate anomaly"),
  FRAME_POINTER_MISMATCH(
      Stat.FRAME_POINTER_MISMATCHES,
      Severity.ERROR,
      "fp at exit differs from fp at entry, if the convention gives fp a meaning",
      "the function did not restore its caller's frame pointer: assembler code that forgets it, a "
          + "wrong clobber list, or an overflow that hit the saved one",
      "look at the function's epilogue, and at its inline assembler"),
  RETURN_ADDRESS_MISMATCH(
      Stat.RETURN_ADDRESS_MISMATCHES,
      Severity.ERROR,
      "the restored return address differs from the saved one; or the slot differs, if the stack "
          + "pointer predicts it exactly",
      "the function left the stack pointer at another place, or returns more than once",
      "compare what the function pushes and pops, and what it removes at its return"),
  MISSED_EXIT(
      Stat.MISSED_EXITS,
      Severity.ERROR,
      "a record shows that open calls ended without their exits, and all of them are of functions in "
          + "Image.copiedReturns: gcc copied their return address to realign the stack, and the "
          + "tracer hijacked the copy; one row per call",
      "gcc realigns the stack with a copy of the return address, -pg counts in its frame, and the "
          + "program is stripped: else the function is entered where there is no copy yet",
      "do not strip the program; or compile it with -mfentry, or with -maccumulate-outgoing-args if that helps"),
  STACK_SMASHED(
      Stat.STACK_SMASHES,
      Severity.ERROR,
      "the function returned, but not to the handler: its slot held an address that is neither the "
          + "hijacked one nor the one noted at entry, and the core went there",
      "a buffer overflow in the function, or in one that received the address of a local",
      "compile the function and its callees with -fstack-protector-strong or -fsanitize=address, "
          + "and check what they write to its locals"),
  MISPLACED_EXIT(
      Stat.MISPLACED_EXITS,
      Severity.ERROR,
      "an exit at a depth where no call is open and none was lost, or of another function than "
          + "the open one",
      "the program returned twice from one frame, or several stacks are taken for one",
      "declare the program's tasks; else look at the records before it"),
  KEYFRAME_MISMATCH(
      Stat.KEYFRAME_MISMATCHES,
      Severity.ERROR,
      "where a chunk begins, the calls that are open by the records are not those that are open in "
          + "the core, by its keyframe; one row per ret_stack, of the outermost difference",
      "a record was changed after it was made, or retstack itself is at fault",
      "report it with the trace: no program can cause it"),
  OVERRUN(
      Stat.OVERRUNS,
      Severity.WARNING,
      "ret_stack was full when a function was called: a record names it, or the chunk counts calls "
          + "without a record",
      "recursion deeper than ret_stack",
      "raise --ret-stack, or trace less: --max-depth, --graph-filter"),
  LOST(
      Stat.LOST_RECORDS,
      Severity.ERROR,
      "the core reports that it dropped records here",
      "a flight recorder, which keeps only the last records",
      "record without --flight-recorder, or keep more records"),
  SEQUENCE_GAP(
      Stat.GAP_RECORDS,
      Severity.ERROR,
      "chunks, or records of them, are missing",
      "the topic's retention, a trace that was cut, or chunks that were refused",
      "look at dead-letters; keep the events topic longer"),
  TRUNCATED(
      Stat.TRUNCATED_CALLS,
      Severity.WARNING,
      "calls that were open at a loss",
      "records were lost: see LOST and SEQUENCE_GAP",
      "see there; bounds of the duration are in the tree"),
  CUT_TRACE(
      Stat.CUT_TRACES,
      Severity.ERROR,
      "the trace, or one that it was made of, was cut off; it is of no core",
      "the recorder was killed, its disk was full, or the file was not copied whole",
      "record or copy it again; what stands before the cut is right");

  private final Stat stat;
  private final Severity severity;
  private final String definition;
  private final String cause;
  private final String cure;

  AnomalyKind(Stat stat, Severity severity, String definition, String cause, String cure) {
    this.stat = stat;
    this.severity = severity;
    this.definition = definition;
    this.cause = cause;
    this.cure = cure;
  }

  /** What counts them: the counts of all anomalies of this kind add up to it. */
  public Stat stat() {
    return stat;
  }

  public Severity severity() {
    return severity;
  }

  /** What exactly is one. */
  public String definition() {
    return definition;
  }

  /** What is likely to have made it, in words. */
  public String cause() {
    return cause;
  }

  /** What to do about it, in words. */
  public String cure() {
    return cure;
  }
}
