package dev.retstack.graph.tree;

/** How a call ended. */
public enum Ending {
  /** Not yet. */
  OPEN(0, false),
  /** By its exit record. */
  RETURNED(1, true),
  /** The function jumped to another one, which returns for it. */
  TAIL_CALLED(2, true),
  /** Control left it without a return: longjmp, exception, or an exit that was not its own. */
  UNWOUND(3, true),
  /** The core ended while it was open. */
  ENDED(4, true),
  /** Records were lost while it was open: its end is unknown, no duration is counted. */
  TRUNCATED(5, false);

  private static final Ending[] ALL = values();
  private final int code;
  private final boolean finished;

  Ending(int code, boolean finished) {
    this.code = code;
    this.finished = finished;
  }

  /** Whether the time of the end is known, so that the duration counts. */
  public boolean finished() {
    return finished;
  }

  /** Number of endings. */
  public static int count() {
    return ALL.length;
  }

  /** Number in columns, snapshots and digests: 0 up to {@link #count()}, never changed. */
  public int code() {
    return code;
  }

  /** The ending of this code. */
  public static Ending of(int code) {
    return ALL[code];
  }
}
