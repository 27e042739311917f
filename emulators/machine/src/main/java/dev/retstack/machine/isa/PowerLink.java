package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.LinkReads;
import it.unimi.dsi.fastutil.ints.IntSet;

/**
 * What the instructions of PowerPC do with registers. lr comes behind r31: {@code mflr} copies it.
 * Power ISA 3.0B, Book I and Appendix "Opcode Maps".
 *
 * @param power byte order of the instructions
 */
record PowerLink(Power power) implements LinkReads.Steps {
  private static final int LR = 32;

  /** r1, r2, r13 to r31. */
  private static final long KEPT = 0xffff_e006L;

  /** r3 to r10. */
  private static final long PASSED = 0x07f8L;

  /** Bases of frames: the stack and frame pointers, and those of prologues of big frames. */
  private static final long FRAMES = 0x8000_0802L;

  /** Arithmetic of opcode 31 without a third register. */
  private static final IntSet OF_ONE = IntSet.of(104, 200, 202, 232, 234);

  /** Which functions read the return address in lr. */
  LinkReads reads() {
    return new LinkReads(code -> Power.STEP, this, LR, KEPT, PASSED, FRAMES, true);
  }

  @Override
  public void step(long at, long code, LinkReads.Way way) {
    int word = power.instruction(code);
    int opcode = word >>> 26;
    int first = word >>> 21 & 31;
    int second = word >>> 16 & 31;
    switch (opcode) {
      case 7, 8, 12, 13 -> {
        way.reads(second);
        way.writes(first);
      }
      case 10, 11 -> way.reads(second);
      case 14, 15 -> {
        way.readsBase(second);
        way.writes(first);
      }
      case 16, 18 -> branch(at, word, way);
      case 19 -> byRegister(word, way);
      case 20, 21, 23, 24, 25, 26, 27, 28, 29, 30 -> {
        if (word != Power.NOP) {
          way.reads(first);
          way.writes(second);
        }
      }
      case 31 -> extended(word, way);
      case 32, 33, 34, 35, 40, 41, 42, 43, 46, 58 -> {
        way.readsBase(second);
        way.writes(first);
      }
      case 36, 37, 38, 39, 44, 45, 47, 62 -> {
        way.readsBase(second);
        way.stores(first, second);
      }
      default -> {} // floating point, vectors
    }
  }

  private static void branch(long at, int word, LinkReads.Way way) {
    boolean isConditional = word >>> 26 == 16;
    long target = at + (isConditional ? (short) word & -4 : word << 6 >> 6 & -4);
    if ((word & 1) != 0 && target == at + Power.STEP) { // reads where it stands
      way.writes(LR);
    } else if ((word & 1) != 0) {
      way.calls();
    } else if (isConditional) {
      way.branches(target);
    } else {
      way.jumps(target);
    }
  }

  /** {@code blr}, {@code bctr}, {@code bctrl}; returns that depend on a condition. */
  private static void byRegister(int word, LinkReads.Way way) {
    boolean isAlways = (word >>> 21 & 0b10100) == 0b10100;
    boolean isByCount = (word >>> 1 & 0x3ff) == 528;
    boolean isReturn = (word >>> 1 & 0x3ff) == 16;
    if (isByCount && (word & 1) != 0) {
      way.calls();
    } else if (isByCount) {
      way.jumpsByRegister();
    } else if (isReturn && isAlways) {
      way.returns();
    }
  }

  private static void extended(int word, LinkReads.Way way) {
    int first = word >>> 21 & 31;
    int second = word >>> 16 & 31;
    int third = word >>> 11 & 31;
    int operation = word >>> 1 & 0x3ff;
    switch (operation & 31) {
      case 0, 4 -> { // cmp, tw
        way.reads(second);
        way.reads(third);
      }
      case 8, 9, 10, 11 -> {
        way.reads(second);
        if (!OF_ONE.contains(operation & 0x1ff)) {
          way.reads(third);
        }
        way.writes(first);
      }
      case 15 -> { // isel
        way.readsBase(second);
        way.reads(third);
        way.writes(first);
      }
      case 19 -> special(word, first, way);
      case 20, 21, 22, 23 -> {
        way.readsBase(second);
        way.reads(third);
        boolean isFloat = operation >= 512 && (operation & 31) == 23;
        if (!isFloat && (operation & 128) != 0) {
          way.reads(first);
        } else if (!isFloat) {
          way.writes(first);
        }
      }
      case 24, 26, 27, 28 -> {
        boolean hasThird = operation != 824 && (operation & 31) != 26 && operation != 827;
        if (operation == 444 && first == third) {
          way.copies(first, second);
        } else {
          way.reads(first);
          if (hasThird || operation == 794) {
            way.reads(third);
          }
          way.writes(second);
        }
      }
      default -> {}
    }
  }

  /** {@code mflr}, {@code mtlr}, {@code mtctr}, {@code mfcr} and the like. */
  private static void special(int word, int register, LinkReads.Way way) {
    switch (word & 0xfc1f_ffff) {
      case 0x7c08_02a6 -> way.copies(LR, register);
      case 0x7c08_03a6 -> way.copies(register, LR);
      case 0x7c09_03a6 -> way.reads(register);
      default -> {
        boolean isFrom = (word >>> 1 & 0x3ff) == 19 || (word >>> 1 & 0x3ff) == 339;
        if (isFrom) {
          way.writes(register);
        }
      }
    }
  }
}
