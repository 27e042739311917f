package dev.retstack.machine.isa.call;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * One way in which a compiler or linker writes the call of the counting function. The bytes in
 * front of the return address show which form a call has. The return address minus the length of
 * the form is {@code selfpc}.
 *
 * <p>Code is a {@code long} here. Its first byte is the lowest, in either byte order of the ISA.
 *
 * @param text the instruction as an assembler prints it
 * @param size length of the call in bytes, 1 to 8
 * @param pattern the call's bits, where {@code mask} has ones
 * @param mask which bits of {@code pattern} count
 * @param target where the call goes; of a call through a pointer what it adds to its base
 * @param pointer finds the pointer in memory that is called through; empty for a direct call
 * @param skip what may stand in place of the call, where the counting function is known to do
 *     nothing that the program sees; empty where it does
 */
public record CallForm(
    String text,
    int size,
    long pattern,
    long mask,
    Target target,
    Optional<Pointer> pointer,
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

  /**
   * A relocation by which an assembler leaves the target of a call to the linker.
   *
   * @param type its number, as the ABI of the ISA lists them
   * @param at bytes from the first one of the call to the place that it names
   */
  public record Relocation(int type, int at) {}

  /** Computes where a call goes. */
  @FunctionalInterface
  public interface Target {
    /**
     * Returns the address that is called.
     *
     * @param address of the first byte of the call
     * @param code the bytes of the call, the first one lowest
     */
    long of(long address, long code);
  }

  /** Finds the word in memory whose contents are called. */
  @FunctionalInterface
  public interface Pointer {
    /**
     * Returns the address of the word; empty where the code does not show it.
     *
     * @param program around the call
     * @param function address of the first instruction of the function that calls
     * @param call address of the first byte of the call
     * @param got address of the global offset table; 0 where it is not known
     */
    OptionalLong of(Code program, LongSupplier function, long call, long got);
  }

  public CallForm {
    if (size < 1 || size > Long.BYTES) {
      throw new IllegalArgumentException("call form %s: %d bytes".formatted(text, size));
    }
  }

  /**
   * A direct call, in hex bytes in the order of memory, {@code ..} for one that may be anything.
   */
  public static CallForm direct(String text, String bytes, Target target) {
    String[] all = bytes.toLowerCase(Locale.ROOT).split(" ", -1);
    long pattern = 0;
    long mask = 0;
    for (int i = 0; i < all.length; i++) {
      if (!all[i].equals("..")) {
        pattern |= Long.parseLong(all[i], 16) << (8 * i);
        mask |= 0xffL << (8 * i);
      }
    }
    return bits(text, all.length, pattern, mask, target);
  }

  /** A call through a pointer in memory, written as for {@link #direct}. */
  public static CallForm indirect(String text, String bytes, Target target) {
    return direct(text, bytes, target)
        .through((program, _, call, _) -> OptionalLong.of(target.of(call, program.at(call))));
  }

  /** A call through a pointer in memory at a distance from the global offset table. */
  public static CallForm fromTable(String text, String bytes, Target distance) {
    return direct(text, bytes, distance)
        .through(
            (program, _, call, got) -> OptionalLong.of(got + distance.of(call, program.at(call))));
  }

  /** A direct call known by some bits of its bytes. */
  public static CallForm bits(String text, int size, long pattern, long mask, Target target) {
    return new CallForm(text, size, pattern, mask, target, Optional.empty(), Optional.empty());
  }

  /**
   * A direct call of a big-endian ISA; pattern, mask and the code that {@code target} sees are
   * numbers as the architecture's manual writes them.
   */
  public static CallForm big(String text, int size, long pattern, long mask, Target target) {
    return bits(
        text,
        size,
        swap(pattern, size),
        swap(mask, size),
        (address, code) -> target.of(address, swap(code, size)));
  }

  /** A call with these bytes, of what a word in memory holds. */
  public CallForm through(Pointer word) {
    return new CallForm(text, size, pattern, mask, target, Optional.of(word), skip);
  }

  /** True for a call through a pointer in memory. */
  public boolean indirect() {
    return pointer.isPresent();
  }

  /**
   * This call, of a counting function that returns and does nothing else.
   *
   * @param bytes of the jump, as for {@link #direct}; {@code ..} for one that stays
   */
  public CallForm skippedBy(String bytes) {
    return skippedBy(bytes, OptionalLong.empty());
  }

  /** This call, also of functions that begin with the call. */
  public CallForm skippedBy(String bytes, String nop) {
    return skippedBy(bytes, OptionalLong.of(sameSize(nop).pattern));
  }

  private CallForm skippedBy(String bytes, OptionalLong nop) {
    CallForm jump = sameSize(bytes);
    Skip jumped = new Skip(jump.pattern, jump.mask, nop);
    return new CallForm(text, size, pattern, mask, target, pointer, Optional.of(jumped));
  }

  private CallForm sameSize(String bytes) {
    CallForm other = direct(text, bytes, target);
    if (other.size != size) {
      throw new IllegalArgumentException(
          "skip of %s: %d bytes for %d".formatted(text, other.size, size));
    }
    return other;
  }

  /** The first {@code size} bytes of a code, the first one highest instead of lowest, or back. */
  public static long swap(long code, int size) {
    return Long.reverseBytes(code) >>> (Long.SIZE - Byte.SIZE * size);
  }

  /**
   * This call, to another place; what the target does not depend on is left as it is.
   *
   * <p>An encoding is solved, not written a second time: each bit of an immediate adds one power of
   * two to the target, or takes it away.
   *
   * @param code an instruction of this form, the first byte lowest
   * @param wordBytes of the ISA: addresses wrap there
   * @return empty where the place is out of reach, or the call goes by a pointer
   */
  public OptionalLong encode(long address, long to, long code, int wordBytes) {
    return indirect()
        ? OptionalLong.empty()
        : new Immediate(this, address, code, wordBytes).solve(to);
  }

  /**
   * True where the target can stand this many bytes behind the beginning: these are opcode alone.
   */
  public boolean targetAt(int bytes) {
    int bits = Byte.SIZE * bytes;
    return bytes == 0
        || (bytes < size && (~mask << (Long.SIZE - bits)) == 0 && (mask >>> bits & 0xff) != 0xff);
  }

  /** True where {@code code}, the first byte lowest, begins with such a call. */
  public boolean matches(long code) {
    return ((code ^ pattern) & mask) == 0;
  }

  /**
   * The bits of a call that say where it goes. Found by trying: a bit is one of them where flipping
   * it moves the target. Nearly all move it by a separate power of two, whatever the others are; a
   * few change the meaning of others (Thumb: the sign inverts two), and both their values are
   * tried.
   */
  private static final class Immediate {
    private final CallForm form;
    private final long address;
    private final long word;

    /** The instruction with all bits of the immediate clear. */
    private final long cleared;

    /** Bits that move the target by a power of two. */
    private final long plain;

    /** Bits that do not. */
    private final long odd;

    private Immediate(CallForm form, long address, long code, int wordBytes) {
      this.form = form;
      this.address = address;
      this.word = wordBytes == Long.BYTES ? -1 : 0xffff_ffffL;
      long size = form.size() == Long.BYTES ? -1 : (1L << (Byte.SIZE * form.size())) - 1;
      long all = 0;
      for (long rest = ~form.mask() & size; rest != 0; rest &= rest - 1) {
        long bit = Long.lowestOneBit(rest);
        all |= target(code | bit) == target(code & ~bit) ? 0 : bit;
      }
      cleared = code & ~all;
      long powers = 0;
      for (long rest = all; rest != 0; rest &= rest - 1) {
        long bit = Long.lowestOneBit(rest);
        powers |= Long.bitCount(Math.abs(moves(cleared, bit))) == 1 ? bit : 0;
      }
      plain = powers;
      odd = all & ~powers;
    }

    /** The instruction that goes there; empty where none does. */
    OptionalLong solve(long to) {
      long chosen = 0;
      do { // every subset of the odd bits
        OptionalLong solved = solve(cleared | chosen, to);
        if (solved.isPresent()) {
          return solved;
        }
        chosen = (chosen - odd) & odd;
      } while (chosen != 0);
      return OptionalLong.empty();
    }

    private OptionalLong solve(long start, long to) {
      long missing = (to - target(start)) & word;
      long code = start;
      while (missing != 0) {
        long power = Long.lowestOneBit(missing);
        long bit = moving(start, power);
        if (bit == 0 || (code & bit) != 0) {
          return OptionalLong.empty();
        }
        code |= bit;
        missing = (missing - moves(start, bit)) & word;
      }
      return target(code) == (to & word) ? OptionalLong.of(code) : OptionalLong.empty();
    }

    /** The bit that moves the target so far, up or down; 0 where there is none. */
    private long moving(long start, long power) {
      for (long rest = plain; rest != 0; rest &= rest - 1) {
        long bit = Long.lowestOneBit(rest);
        if (Math.abs(moves(start, bit)) == power) {
          return bit;
        }
      }
      return 0;
    }

    /** How far setting a bit moves the target, as a signed distance. */
    private long moves(long start, long bit) {
      long distance = target(start | bit) - target(start);
      return word == -1 ? distance : (int) distance;
    }

    private long target(long code) {
      return form.target().of(address, code) & word;
    }
  }
}
