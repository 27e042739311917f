package dev.retstack.graph.tree;

/** What a row of the call tree is. */
public enum TreeKind {
  /** A call with its frame: when it began, when and how it ended. */
  CALL(0),
  /** A function was called, its end not seen. The value is the address it returns to. */
  FUNCTION(1),
  /** A system call. */
  SYSTEM_CALL(2),
  /**
   * Tracing changed. The values are a code of {@link dev.retstack.schema.record.Mark}, that of the
   * command, and selfPc of the open calls, innermost first.
   */
  MARK(3),
  /**
   * Records are missing: from its beginning to its end it is unknown what ran besides the calls in
   * it. The values are those of a {@link dev.retstack.graph.losses.Loss} in their order.
   */
  LOSS(4),
  /** An interrupt; calls in it are its rows. The value is the address that was interrupted. */
  INTERRUPT(5),
  /**
   * The task was switched out from its beginning to its end. The values are the id and the instance
   * of the task that continued.
   */
  SWITCH(6);

  private static final TreeKind[] ALL = values();
  private final int code;

  TreeKind(int code) {
    this.code = code;
  }

  /** Number in snapshots, below {@link #count()}, never changed. */
  public int code() {
    return code;
  }

  static int count() {
    return ALL.length;
  }

  static TreeKind of(int code) {
    return ALL[code];
  }
}
