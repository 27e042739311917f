package dev.retstack.machine.memory;

/** Numbers of bytes as users write them: decimal or {@code 0x...}, which may end in K, M or G. */
public final class ByteSize {
  private ByteSize() {}

  /**
   * Reads a number of bytes.
   *
   * @throws IllegalArgumentException with the value and a right example
   */
  public static long parse(String text) {
    try {
      return decode(text);
    } catch (NumberFormatException notNumber) {
      throw new IllegalArgumentException(
          "'%s' is not a number of bytes: write for example 64K, 16M or 0x10000".formatted(text),
          notNumber);
    }
  }

  /** Reads a part of a text; the caller explains errors. */
  static long decode(String text) {
    int last = text.length() - 1;
    int shift = last < 0 ? 0 : 10 * (1 + "KMG".indexOf(Character.toUpperCase(text.charAt(last))));
    long number = Long.decode(shift == 0 ? text : text.substring(0, last));
    if (number << shift >> shift != number) {
      throw new NumberFormatException(text + " is beyond 2^63");
    }
    return number << shift;
  }
}
