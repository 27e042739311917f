package dev.retstack.graph.reconstruct;

import java.util.Locale;
import java.util.Optional;

/** What a MARK record tells of; the numbers are those of the wire. */
public enum Mark {
  /** Tracing went on. */
  TRACEON(1),
  /** Tracing went off. */
  TRACEOFF(2),
  /** The records that the core had kept were sent. */
  SNAPSHOT(3),
  /** Somebody asked which calls are open here. */
  STACKTRACE(4),
  /** New settings hold from here on. */
  SETTINGS(5);

  private static final Mark[] ALL = values();
  private final long number;

  Mark(long number) {
    this.number = number;
  }

  /** The mark of a number; empty for one of a later version. */
  public static Optional<Mark> of(long number) {
    for (Mark mark : ALL) {
      if (mark.number == number) {
        return Optional.of(mark);
      }
    }
    return Optional.empty();
  }

  /** What people read: lower case, or the number where it is of a later version. */
  public static String name(long number) {
    return of(number)
        .map(mark -> mark.name().toLowerCase(Locale.ROOT))
        .orElseGet(() -> "mark " + number);
  }
}
