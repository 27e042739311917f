package dev.retstack.fleet.probe.unwind;

import dev.retstack.machine.loader.elf.Symbol;

/**
 * Where the frame of a function has been left: at a block that is not its own, with a stack pointer
 * of a range.
 *
 * @param first the lowest stack pointer
 * @param span how many there are
 * @param code address of the function
 * @param codeBytes of it
 * @param back where the function returns to, which may be inside of it; {@link Unwinding#NOWHERE}
 *     where that is not known
 */
public record Leaving(long first, long span, long code, long codeBytes, long back) {
  /**
   * Leaving a function.
   *
   * @param end one past the highest stack pointer; below {@code first} where that may be any but a
   *     few
   */
  static Leaving of(Symbol function, long first, long end) {
    return of(function, first, end, Unwinding.NOWHERE);
  }

  /** Leaving a function whose return address is known. */
  static Leaving of(Symbol function, long first, long end, long back) {
    long bytes = Math.max(1, function.size());
    return new Leaving(first, end - first, function.address(), bytes, back);
  }

  /** Where a function returns to, with one stack pointer. */
  static Leaving by(long back, long sp) {
    return new Leaving(sp, 1, 0, -1, back);
  }

  /** At any block but one. */
  static Leaving notAt(long address) {
    return new Leaving(0, -1, address, 1, Unwinding.NOWHERE);
  }

  boolean isAt(long address, long sp) {
    return Long.compareUnsigned(sp - first, span) < 0 && (!isOf(address) || address == back);
  }

  /** True for an address of the function. */
  boolean isOf(long address) {
    return Long.compareUnsigned(address - code, codeBytes) < 0;
  }
}
