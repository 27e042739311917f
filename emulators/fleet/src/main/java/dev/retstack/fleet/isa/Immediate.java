package dev.retstack.fleet.isa;

import java.util.OptionalLong;

/**
 * The bits of a call that say where it goes. Found by trying: a bit is one of them where flipping
 * it moves the target. Nearly all move it by a power of two of their own, whatever the others are;
 * a few change the meaning of others (Thumb: the sign inverts two), and both their values are
 * tried.
 */
final class Immediate {
  private final CallForm form;
  private final long address;
  private final long word;

  /** The instruction with all bits of the immediate clear. */
  private final long cleared;

  /** Bits that move the target by a power of two. */
  private final long plain;

  /** Bits that do not. */
  private final long odd;

  Immediate(CallForm form, long address, long code, int wordBytes) {
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
