package dev.retstack.cli.doctor;

/**
 * What one check found.
 *
 * @param subject what was looked at, in one or two words
 * @param state whether it will do
 * @param detail what is there: path, version, size
 * @param cure how to mend it; empty where there is nothing to mend
 */
public record Finding(String subject, State state, String detail, String cure) {
  /** Whether something will do. */
  public enum State {
    /** As it should be. */
    OK,
    /** Works, or is needed only for some uses. */
    WARN,
    /** Nothing, or not much, works without it. */
    MISSING
  }

  static Finding ok(String subject, String detail) {
    return new Finding(subject, State.OK, detail, "");
  }

  static Finding warn(String subject, String detail, String cure) {
    return new Finding(subject, State.WARN, detail, cure);
  }

  static Finding missing(String subject, String detail, String cure) {
    return new Finding(subject, State.MISSING, detail, cure);
  }
}
