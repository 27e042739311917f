package dev.retstack.fleet.isa;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One way in which a compiler or linker writes the call of the counting function. The call is
 * recognised by its bytes in front of the return address, and its length takes the return address
 * to {@code selfpc}.
 *
 * <p>Code stands in a {@code long} here with its first byte lowest, whatever the ISA's byte order.
 *
 * @param text the instruction as an assembler prints it
 * @param size length of the call in bytes, 1 to 8
 * @param pattern the call's bits, where {@code mask} has ones
 * @param mask which bits of {@code pattern} count
 * @param indirect true where {@code target} is the address of the pointer that is called through
 * @param base symbol whose address is added to {@code target}: what a register holds that the call
 *     goes by, where the convention says so; empty where none is
 * @param target where the call goes
 * @param skip what may stand in place of the call, where the counting function is known to do
 *     nothing that the program sees; empty where it does
 */
public record CallForm(
    String text,
    int size,
    long pattern,
    long mask,
    boolean indirect,
    Optional<String> base,
    Target target,
    Optional<Skip> skip) {

  /**
   * A jump behind itself, of as many bytes and instructions as the call: it takes the same time,
   * and what is behind it begins a block.
   *
   * @param code its bytes, where {@code mask} has ones; the others are those of the call
   * @param mask as for {@link CallForm#mask}
   * @param nop one instruction of as many bytes that does nothing, for a function that begins with
   *     the call; empty where none is known
   */
  public record Skip(long code, long mask, OptionalLong nop) {}

  /** Computes where a call goes. */
  @FunctionalInterface
  public interface Target {
    /**
     * Returns the address that is called, or that of the pointer to it.
     *
     * @param address of the first byte of the call
     * @param code the bytes of the call, the first one lowest
     */
    long of(long address, long code);
  }

  public CallForm {
    if (size < 1 || size > Long.BYTES) {
      throw new IllegalArgumentException("call form %s: %d bytes".formatted(text, size));
    }
  }

  /**
   * A direct call, in hex bytes in the order of memory, {@code ..} for one that may be anything.
   */
  static CallForm direct(String text, String bytes, Target target) {
    return of(text, bytes, false, target);
  }

  /** A call through a pointer in memory, written as for {@link #direct}. */
  static CallForm indirect(String text, String bytes, Target target) {
    return of(text, bytes, true, target);
  }

  /** A call through a pointer in memory that lies at a distance from a symbol. */
  static CallForm indirectFrom(String symbol, String text, String bytes, Target distance) {
    CallForm form = of(text, bytes, true, distance);
    return new CallForm(
        text,
        form.size,
        form.pattern,
        form.mask,
        true,
        Optional.of(symbol),
        distance,
        Optional.empty());
  }

  /** A direct call known by some bits of its bytes. */
  static CallForm bits(String text, int size, long pattern, long mask, Target target) {
    return new CallForm(
        text, size, pattern, mask, false, Optional.empty(), target, Optional.empty());
  }

  /**
   * A direct call of a big-endian ISA; pattern, mask and the code that {@code target} sees are
   * numbers as the architecture's manual writes them.
   */
  static CallForm big(String text, int size, long pattern, long mask, Target target) {
    return new CallForm(
        text,
        size,
        swap(pattern, size),
        swap(mask, size),
        false,
        Optional.empty(),
        (address, code) -> target.of(address, swap(code, size)),
        Optional.empty());
  }

  /**
   * The same call, of a counting function that returns and does nothing else.
   *
   * @param bytes of the jump, as for {@link #direct}; {@code ..} for one that stays
   */
  CallForm skippedBy(String bytes) {
    return skippedBy(bytes, OptionalLong.empty());
  }

  /** The same, also of functions that begin with the call. */
  CallForm skippedBy(String bytes, String nop) {
    return skippedBy(bytes, OptionalLong.of(sameSize(nop).pattern));
  }

  private CallForm skippedBy(String bytes, OptionalLong nop) {
    CallForm jump = sameSize(bytes);
    return new CallForm(
        text,
        size,
        pattern,
        mask,
        indirect,
        base,
        target,
        Optional.of(new Skip(jump.pattern, jump.mask, nop)));
  }

  private CallForm sameSize(String bytes) {
    CallForm other = of(text, bytes, false, target);
    if (other.size != size) {
      throw new IllegalArgumentException(
          "skip of %s: %d bytes for %d".formatted(text, other.size, size));
    }
    return other;
  }

  /** The first {@code size} bytes of a code, the first one highest instead of lowest, or back. */
  static long swap(long code, int size) {
    return Long.reverseBytes(code) >>> (Long.SIZE - Byte.SIZE * size);
  }

  private static CallForm of(String text, String bytes, boolean indirect, Target target) {
    String[] all = bytes.toLowerCase(Locale.ROOT).split(" ", -1);
    long pattern = 0;
    long mask = 0;
    for (int i = 0; i < all.length; i++) {
      if (!all[i].equals("..")) {
        pattern |= Long.parseLong(all[i], 16) << (8 * i);
        mask |= 0xffL << (8 * i);
      }
    }
    return new CallForm(
        text, all.length, pattern, mask, indirect, Optional.empty(), target, Optional.empty());
  }

  /**
   * The same call, to another place; what the target does not depend on is left as it is.
   *
   * <p>An encoding is solved, not written a second time: each bit of an immediate adds its own
   * power of two to the target, or takes it away.
   *
   * @param code an instruction of this form, the first byte lowest
   * @param wordBytes of the ISA: addresses wrap there
   * @return empty where the place is out of reach, or the call goes by a pointer
   */
  public OptionalLong encode(long address, long to, long code, int wordBytes) {
    return indirect || base.isPresent()
        ? OptionalLong.empty()
        : new Immediate(this, address, code, wordBytes).solve(to);
  }

  /** True where the target can stand so many bytes behind the beginning: these are opcode alone. */
  public boolean targetAt(int bytes) {
    int bits = Byte.SIZE * bytes;
    return bytes == 0
        || (bytes < size && (~mask << (Long.SIZE - bits)) == 0 && (mask >>> bits & 0xff) != 0xff);
  }

  /** True where {@code code}, the first byte lowest, begins with such a call. */
  public boolean matches(long code) {
    return ((code ^ pattern) & mask) == 0;
  }
}
