package dev.retstack.machine.memory;

/**
 * Memory that a board has and the image does not describe: read, write, execute.
 *
 * @param base first address, a page boundary
 * @param size bytes, whole pages
 */
public record Ram(long base, long size) {
  public Ram {
    if (base % GuestMemory.PAGE != 0 || size <= 0 || size % GuestMemory.PAGE != 0) {
      throw new IllegalArgumentException(
          "ram 0x%x:0x%x is not whole pages: multiples of 0x%x"
              .formatted(base, size, GuestMemory.PAGE));
    }
  }

  /**
   * Reads {@code BASE:SIZE}, each decimal or {@code 0x...}; SIZE may end in K, M or G.
   *
   * @throws IllegalArgumentException with the value and a right example
   */
  public static Ram parse(String text) {
    String[] parts = text.split(":", -1);
    try {
      if (parts.length == 2) {
        return new Ram(Long.decode(parts[0]), ByteSize.decode(parts[1]));
      }
    } catch (NumberFormatException notNumbers) {
      // thrown below
    }
    throw new IllegalArgumentException(
        "ram '%s' is not BASE:SIZE: write for example 0x20000000:64K".formatted(text));
  }
}
