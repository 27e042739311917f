package dev.retstack.fleet.probe;

/** What a record of kind MARK says of the tracing itself. */
public enum Mark {
  /** A function switched recording on. */
  TRACEON(1),
  /** A function switched recording off. */
  TRACEOFF(2),
  /** The flight recorder is to be sent. */
  SNAPSHOT(3),
  /** The frames that are open are of interest. */
  STACKTRACE(4),
  /** Other settings count from here on. */
  SETTINGS(5);

  private final int code;

  Mark(int code) {
    this.code = code;
  }

  /** As records say it. */
  public int code() {
    return code;
  }
}
