package dev.retstack.fleet.linux;

import java.nio.ByteOrder;

/**
 * What an argument word of a system call means: words of 32-bit programs come zero-extended, and
 * their 64-bit arguments take two places.
 *
 * @param wordBytes 4 or 8
 * @param order which half comes first
 * @param pairsAligned true where a pair starts at an even place
 */
record ArgumentRules(int wordBytes, ByteOrder order, boolean pairsAligned) {

  /** A word as a signed number. */
  long signed(long word) {
    return wordBytes == Long.BYTES ? word : (int) word;
  }

  /**
   * A 64-bit argument.
   *
   * @param arguments of the call
   * @param index how many arguments come before it, each a word
   */
  long wide(long[] arguments, int index) {
    if (wordBytes == Long.BYTES) {
      return arguments[index];
    }
    int first = pairsAligned && index % 2 != 0 ? index + 1 : index;
    return order == ByteOrder.BIG_ENDIAN
        ? join(arguments[first], arguments[first + 1])
        : join(arguments[first + 1], arguments[first]);
  }

  /** A 64-bit number of its halves. */
  static long join(long high, long low) {
    return (high << 32) | (low & 0xFFFF_FFFFL);
  }
}
