package dev.retstack.fleet.probe.site;

import dev.retstack.schema.record.ValuesDepth;

/**
 * Values that are recorded with a call or an event, numbered from 0.
 *
 * @param first of them
 * @param end one past the last; {@code first} where there are none
 * @param format how they are to be shown, such as {@link ValuesDepth#HEX}
 */
public record ValueRange(int first, int end, int format) {
  static final ValueRange NONE = new ValueRange(0, 0, ValuesDepth.AUTO);

  /** Most values of one record. */
  public static final int EACH = ValuesDepth.VALUES_MAX;

  /** The value that a function returns. */
  public static ValueRange returned(int format) {
    return new ValueRange(0, 1, format);
  }

  /** Arguments of a system call. */
  public static ValueRange all(int count) {
    return new ValueRange(0, count, ValuesDepth.AUTO);
  }

  /** Records that they take. */
  public int records() {
    return (end - first + EACH - 1) / EACH;
  }

  /** The depth of the record that begins with one of them. */
  public int depth(int value) {
    return ValuesDepth.of(value, Math.min(EACH, end - value), format);
  }
}
