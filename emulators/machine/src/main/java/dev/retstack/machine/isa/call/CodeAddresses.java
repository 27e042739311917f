package dev.retstack.machine.isa.call;

import java.util.function.IntToLongFunction;

/**
 * How an ISA writes the address of code that is jumped to.
 *
 * @param modeRegister the register that shows which instruction set is on; {@link Registers#NONE}
 *     where there is one only. Where there are two, bit 0 of an address to jump to chooses, and is
 *     no part of the address (Arm ARM, "Interworking")
 * @param modeMask the bits of {@code modeRegister} that are set while bit 0 would be
 * @param linkBias what a return adds to the link register: 8 where a call leaves its own address
 *     there (SPARC), 0 elsewhere
 */
public record CodeAddresses(int modeRegister, long modeMask, long linkBias) {

  /** Addresses are addresses. */
  public static final CodeAddresses PLAIN = new CodeAddresses(Registers.NONE, 0, 0);

  /** Two instruction sets. */
  public static CodeAddresses mode(int register, long mask) {
    return new CodeAddresses(register, mask, 0);
  }

  /** A return goes to the link register plus {@code bytes}. */
  public static CodeAddresses biased(long bytes) {
    return new CodeAddresses(Registers.NONE, 0, bytes);
  }

  /** The address of the instruction that a jump to {@code target} goes to. */
  public long instruction(long target) {
    return modeRegister == Registers.NONE ? target : target & ~1L;
  }

  /**
   * Returns what to jump to, to continue at an address in the instruction set that is on.
   *
   * @param registers reads a register
   */
  public long target(long address, IntToLongFunction registers) {
    if (modeRegister == Registers.NONE) {
      return address;
    }
    boolean other = (registers.applyAsLong(modeRegister) & modeMask) != 0;
    return other ? address | 1 : address;
  }
}
