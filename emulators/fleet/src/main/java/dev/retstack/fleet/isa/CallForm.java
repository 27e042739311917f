package dev.retstack.fleet.isa;

import java.util.HexFormat;

/**
 * One way in which a compiler or linker writes the call of the counting function. The call is
 * recognised by its bytes in front of the return address, and its length takes the return address
 * to {@code selfpc}.
 *
 * @param text the instruction as an assembler prints it
 * @param pattern the bytes of the call, where {@code mask} has bits
 * @param mask which bits of {@code pattern} count; as long as the call
 * @param indirect true where {@code target} is the address of the pointer that is called through
 * @param target where the call goes
 */
public record CallForm(String text, byte[] pattern, byte[] mask, boolean indirect, Target target) {

  /** Computes where a call goes. */
  @FunctionalInterface
  public interface Target {
    /**
     * @param address of the first byte of the call
     * @param code the bytes of the call as a little-endian number, the first byte lowest; at most
     *     eight
     */
    long of(long address, long code);
  }

  public CallForm {
    if (pattern.length != mask.length || pattern.length == 0 || pattern.length > Long.BYTES) {
      throw new IllegalArgumentException(
          "call form %s: pattern of %d bytes, mask of %d: as long as the call, 1 to 8"
              .formatted(text, pattern.length, mask.length));
    }
  }

  /** A direct call, written in hex with {@code ..} for a byte that may be anything. */
  static CallForm direct(String text, String bytes, Target target) {
    return of(text, bytes, false, target);
  }

  /** A call through a pointer in memory. */
  static CallForm indirect(String text, String bytes, Target target) {
    return of(text, bytes, true, target);
  }

  /** A call known by some bits of its bytes, the first byte lowest. */
  static CallForm bits(String text, int size, long pattern, long mask, Target target) {
    return new CallForm(text, bytes(pattern, size), bytes(mask, size), false, target);
  }

  private static CallForm of(String text, String bytes, boolean indirect, Target target) {
    String hex = bytes.replace(" ", "");
    return new CallForm(
        text,
        HexFormat.of().parseHex(hex.replace('.', '0')),
        HexFormat.of().parseHex(hex.replaceAll("[^.]", "f").replace('.', '0')),
        indirect,
        target);
  }

  private static byte[] bytes(long value, int size) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; i++) {
      bytes[i] = (byte) (value >>> (8 * i));
    }
    return bytes;
  }

  /** Length of the call in bytes: what selfpc is below the return address. */
  public int size() {
    return pattern.length;
  }

  /** True where {@code code}, as {@link Target#of} is given it, is such a call. */
  public boolean matches(long code) {
    for (int i = 0; i < pattern.length; i++) {
      if ((((code >>> (8 * i)) ^ pattern[i]) & mask[i]) != 0) {
        return false;
      }
    }
    return true;
  }
}
