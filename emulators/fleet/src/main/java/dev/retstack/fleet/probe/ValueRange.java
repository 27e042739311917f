package dev.retstack.fleet.probe;

/**
 * Arguments of a function that are recorded with its entry, numbered from 0.
 *
 * @param first of them
 * @param end one past the last; {@code first} where there are none
 */
record ValueRange(int first, int end) {
  static final ValueRange NONE = new ValueRange(0, 0);

  /** A record of values holds so many. */
  static final int EACH = 4;

  /** Records that they take. */
  int records() {
    return (end - first + EACH - 1) / EACH;
  }
}
