package dev.retstack.graph.hot;

/**
 * Addresses from {@code start} up to, without, {@code end}, unsigned.
 *
 * @param start first address
 * @param end one past the last
 */
public record AddressRange(long start, long end) {
  public AddressRange {
    if (Long.compareUnsigned(start, end) >= 0) {
      throw new IllegalArgumentException(
          "range 0x%x-0x%x is empty: write the lower address first".formatted(start, end));
    }
  }

  /**
   * Reads {@code 0x8000-0x8fff}, both ends included, or {@code 0x8000} for one address.
   *
   * @throws IllegalArgumentException with a sentence, where it is neither
   */
  public static AddressRange parse(String text) {
    int dash = text.indexOf('-');
    long first = address(text, dash < 0 ? text : text.substring(0, dash));
    long last = dash < 0 ? first : address(text, text.substring(dash + 1));
    return new AddressRange(first, last + 1);
  }

  private static long address(String whole, String text) {
    String digits = text.strip();
    try {
      return digits.startsWith("0x")
          ? Long.parseUnsignedLong(digits.substring(2), 16)
          : Long.parseUnsignedLong(digits);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "no addresses: '%s'; write 0x8000-0x8fff or 0x8000".formatted(whole), e);
    }
  }

  /** Whether the address lies in the range. */
  public boolean contains(long address) {
    return Long.compareUnsigned(address - start, end - start) < 0;
  }
}
