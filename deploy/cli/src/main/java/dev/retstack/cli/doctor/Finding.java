package dev.retstack.cli.doctor;

/**
 * What one check found.
 *
 * @param subject what was looked at, in one or two words
 * @param state whether it will do
 * @param detail what is there: path, version, size
 * @param cure how to fix it; empty where nothing is wrong
 */
public record Finding(String subject, State state, String detail, String cure) {
  /** Whether something will do. */
  public enum State {
    /** All is well. */
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
