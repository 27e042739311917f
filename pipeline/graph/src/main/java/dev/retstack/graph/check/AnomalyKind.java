package dev.retstack.graph.check;

/** What can be wrong, odd or missing in the records of a core. README.md defines each kind. */
public enum AnomalyKind {
  FRAME_POINTER_MISMATCH(Severity.ERROR),
  RETURN_ADDRESS_MISMATCH(Severity.ERROR),
  TAIL_CALL(Severity.INFO),
  UNWOUND(Severity.WARNING),
  MISSED_EXIT(Severity.ERROR),
  STACK_SMASHED(Severity.ERROR),
  STACK_SWITCH(Severity.INFO),
  MISPLACED_EXIT(Severity.ERROR),
  OVERRUN(Severity.WARNING),
  LOST(Severity.ERROR),
  SEQUENCE_GAP(Severity.ERROR),
  TRUNCATED(Severity.WARNING);

  private final Severity severity;

  AnomalyKind(Severity severity) {
    this.severity = severity;
  }

  public Severity severity() {
    return severity;
  }
}
