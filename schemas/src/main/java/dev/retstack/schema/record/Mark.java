package dev.retstack.schema.record;

import java.util.Locale;
import java.util.Optional;

/**
 * The meaning of a {@link RecordBatch#MARK} record, in its {@code fromPc}: an event of the tracing
 * itself.
 */
public enum Mark {
  /** A function switched recording on. */
  TRACEON(1),
  /** A function switched recording off. */
  TRACEOFF(2),
  /** The flight recorder is to be sent. */
  SNAPSHOT(3),
  /** The calls that are open here are of interest. */
  STACKTRACE(4),
  /** Other settings count from here on; {@code retP} says by which command. */
  SETTINGS(5);

  private static final Mark[] ALL = values();
  private final int code;

  Mark(int code) {
    this.code = code;
  }

  /** As records say it. */
  public int code() {
    return code;
  }

  /** The mark of a code; empty for one of a later version. */
  public static Optional<Mark> of(long code) {
    for (Mark mark : ALL) {
      if (mark.code == code) {
        return Optional.of(mark);
      }
    }
    return Optional.empty();
  }

  /** What people read: lower case. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Text of a code; its number where a later version defined it. */
  public static String text(long code) {
    return of(code).map(Mark::text).orElseGet(() -> "mark " + code);
  }
}
