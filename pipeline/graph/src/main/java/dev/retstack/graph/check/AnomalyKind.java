package dev.retstack.graph.check;

/** What can be wrong, odd or missing in the records of a core. README.md has an example of each. */
public enum AnomalyKind {
  FAULTED(
      Stat.FAULTED_CORES,
      Severity.ERROR,
      "the core ended because guest or emulator failed; the stack is what was open then",
      "a wild pointer, a smashed stack, abort, or memory of the board that was not declared",
      "look at the place and its callers; memory of a board: --ram BASE:SIZE; a smashed stack has "
          + "an anomaly of its own"),
  FRAME_POINTER_MISMATCH(
      Stat.FRAME_POINTER_MISMATCHES,
      Severity.ERROR,
      "where the convention makes fp meaningful: fp at exit differs from fp at entry",
      "the function did not restore its caller's frame pointer: assembler code that forgets it, a "
          + "wrong clobber list, or an overflow that hit the saved one",
      "look at the function's epilogue, and at its inline assembler"),
  RETURN_ADDRESS_MISMATCH(
      Stat.RETURN_ADDRESS_MISMATCHES,
      Severity.ERROR,
      "another return address was restored than saved; or, where the stack pointer foretells the "
          + "slot exactly, another slot",
      "the function left the stack pointer elsewhere than it found it, or returns more than once",
      "compare what the function pushes and pops, and what it takes off at its return"),
  TAIL_CALL(
      Stat.TAIL_CALLS,
      Severity.INFO,
      "an entry whose return address is a return_to_handler slot",
      "the compiler made a jump of the last call",
      "nothing; where the caller must stay visible: -fno-optimize-sibling-calls"),
  UNWOUND(
      Stat.UNWOUND_CALLS,
      Severity.WARNING,
      "a record shows that n open calls are gone without their exits; one row per such record",
      "longjmp, an exception, or code that switches stacks",
      "nothing where the program does so; declare its tasks where it switches stacks"),
  MISSED_EXIT(
      Stat.MISSED_EXITS,
      Severity.ERROR,
      "the same, where all that are gone are functions that Image.copiedReturns lists: gcc copied "
          + "their return address to realign the stack, the tracer hijacked the copy; one row per "
          + "call",
      "gcc realigns the stack with a copy of the return address, and -pg counts in its frame",
      "compile it with -mfentry, or -maccumulate-outgoing-args where that helps"),
  STACK_SMASHED(
      Stat.STACK_SMASHES,
      Severity.ERROR,
      "a record says that the function returned, but not to the handler: its slot held another "
          + "address than the one hijacked or noted at entry, and there the core went",
      "a buffer overflow in the function, or in one that it gave the address of a local to",
      "compile the function and those it calls with -fstack-protector-strong or "
          + "-fsanitize=address, and look at what they write to its locals"),
  STACK_SWITCH(
      Stat.STACK_SWITCHES,
      Severity.INFO,
      "the core goes on with another task",
      "a scheduler, or a coroutine",
      "nothing"),
  MISPLACED_EXIT(
      Stat.MISPLACED_EXITS,
      Severity.ERROR,
      "exit at a depth where no call is open and none was lost, or of another function than is "
          + "open there",
      "the program returned twice by one frame, or several stacks are taken for one",
      "declare the program's tasks; else look at what was recorded before it"),
  OVERRUN(
      Stat.OVERRUNS,
      Severity.WARNING,
      "a record says that ret_stack was full when a function was called, which names it; or the "
          + "chunk says so of calls without a record",
      "recursion deeper than ret_stack",
      "give more --ret-stack, or trace less: --max-depth, --graph-function"),
  LOST(
      Stat.LOST_RECORDS,
      Severity.ERROR,
      "the core says that it dropped records here",
      "a flight recorder, which keeps the last records only",
      "record without --last, or keep more"),
  SEQUENCE_GAP(
      Stat.GAP_RECORDS,
      Severity.ERROR,
      "chunks, or records of them, are missing",
      "the topic's retention, a trace that was cut, or chunks that were refused",
      "look at dead-letters; keep the events topic for longer"),
  TRUNCATED(
      Stat.TRUNCATED_CALLS,
      Severity.WARNING,
      "calls that were open at a loss",
      "records were lost: see LOST and SEQUENCE_GAP",
      "as there; duration bounds are in the tree");

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
