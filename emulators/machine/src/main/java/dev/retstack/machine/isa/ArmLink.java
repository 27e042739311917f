package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.LinkReads;

/**
 * What the instructions of arm do with lr, in A32; a copy of it is a read. Arm Architecture
 * Reference Manual ARMv7-A, A5 "ARM Instruction Set Encoding".
 */
final class ArmLink implements LinkReads.Steps {
  static final int LR = 14;
  static final int PC = 15;

  /** r4 to r11 and sp. */
  static final long KEPT = 0x2ff0;

  /** r0 to r3. */
  static final long PASSED = 0xf;

  /** r7, r11 and sp. */
  static final long FRAMES = 0x2880;

  /** {@code add}, {@code sub} and the like write; {@code tst} to {@code cmn} do not. */
  private static final int MOV = 13;

  /** Which functions read the return address in lr. */
  static LinkReads reads() {
    return new LinkReads(_ -> 4, new ArmLink(), LR, KEPT, PASSED, FRAMES, true);
  }

  @Override
  public void step(long at, long code, LinkReads.Way way) {
    int word = (int) code;
    if (word >>> 28 != 14) {
      way.conditionally(1);
    }
    switch (word >>> 25 & 7) {
      case 0, 1 -> {
        if ((word & 0x0200_0090) == 0x0000_0090) {
          extra(word, way);
        } else if ((word & 0x0190_0000) == 0x0100_0000) {
          miscellaneous(word, way);
        } else {
          computes(word, way);
        }
      }
      case 2 -> transfers(word, way);
      case 3 -> {
        way.reads(word & 15);
        if ((word & 0x10) == 0) {
          transfers(word, way);
        } else {
          media(word, way);
        }
      }
      case 4 -> multiple(word >>> 16 & 15, word & 0xffff, (word & 1 << 20) != 0, way);
      case 5 -> branch(at, word, way);
      default -> coprocessor(word, way);
    }
  }

  /** {@code mul}, {@code mla}, {@code umull}; {@code ldrh}, {@code strd} and the like. */
  private static void extra(int word, LinkReads.Way way) {
    int high = word >>> 16 & 15;
    int low = word >>> 12 & 15;
    if ((word & 0x0f00_00f0) == 0x0000_0090) {
      way.reads(word & 15);
      way.reads(word >>> 8 & 15);
      if ((word & 0x00a0_0000) != 0) {
        way.reads(low);
        way.writes(low);
      }
      way.writes(high);
      return;
    }
    boolean loads = (word & 1 << 20) != 0 || (word & 0xf0) == 0xd0;
    way.reads(high);
    if ((word & 1 << 22) == 0) {
      way.reads(word & 15);
    }
    if (loads) {
      way.writes(low);
    } else {
      way.reads(low);
    }
  }

  /** {@code bx}, {@code blx}, {@code clz}, {@code movw}, {@code movt}. */
  private static void miscellaneous(int word, LinkReads.Way way) {
    int register = word & 15;
    if ((word & 0x0200_0000) != 0) {
      if ((word & 0x0020_0000) == 0) { // not msr, nop
        way.writes(word >>> 12 & 15);
      }
    } else if ((word & 0x00ff_fff0) == 0x002f_ff10) {
      if (register != LR) {
        way.reads(register);
        way.jumpsByRegister();
      } else {
        way.returns();
      }
    } else if ((word & 0x00ff_fff0) == 0x002f_ff30) {
      way.calls();
    } else {
      way.reads(register);
      way.writes(word >>> 12 & 15);
    }
  }

  private static void computes(int word, LinkReads.Way way) {
    int operation = word >>> 21 & 15;
    boolean tests = operation >>> 2 == 2;
    boolean moves = operation == MOV || operation == MOV + 2;
    int to = word >>> 12 & 15;
    boolean isReturn = operation == MOV && to == PC && (word & 0x0200_0fff) == LR;
    if (isReturn) {
      way.returns();
      return;
    }
    if (!moves) {
      way.reads(word >>> 16 & 15);
    }
    if ((word & 0x0200_0000) == 0) {
      way.reads(word & 15);
      if ((word & 0x10) != 0) {
        way.reads(word >>> 8 & 15);
      }
    }
    if (!tests) {
      writes(to, way);
    }
  }

  private static void writes(int register, LinkReads.Way way) {
    if (register != PC) {
      way.writes(register);
    } else {
      way.jumpsByRegister();
    }
  }

  private static void transfers(int word, LinkReads.Way way) {
    int base = word >>> 16 & 15;
    int register = word >>> 12 & 15;
    way.reads(base);
    if ((word & 1 << 20) != 0) {
      if ((word & 1 << 22) == 0) {
        writes(register, way);
      } else {
        way.writes(register);
      }
    } else {
      way.stores(register, base);
    }
  }

  /** {@code sdiv}, {@code ubfx}, {@code uxtab} and the like. */
  private static void media(int word, LinkReads.Way way) {
    int high = word >>> 16 & 15;
    int low = word >>> 12 & 15;
    if ((word & 0x0180_0000) == 0x0100_0000) { // products and quotients
      way.reads(word >>> 8 & 15);
      way.reads(low);
      way.writes(high);
    } else {
      way.reads((word & 0x0180_0000) == 0x0180_0000 ? PC : high);
      way.writes(low);
    }
  }

  /** {@code ldm}, {@code stm}, with {@code push} and {@code pop}. */
  static void multiple(int base, int list, boolean loads, LinkReads.Way way) {
    boolean hasLink = (list >>> LR & 1) != 0;
    way.reads(base);
    if (!loads) {
      if (hasLink) {
        way.stores(LR, base);
      }
    } else if (list >>> PC != 0) {
      way.returns();
    } else if (hasLink) {
      way.writes(LR);
    }
  }

  private static void branch(long at, int word, LinkReads.Way way) {
    long target = at + 8 + Arm.A32.distance(word);
    if (word >>> 28 == 15 || (word & 1 << 24) != 0) {
      way.calls();
    } else {
      way.jumps(target);
    }
  }

  /** {@code vmov} from and to a register; {@code vldr} and {@code vstr}. */
  static void coprocessor(int word, LinkReads.Way way) {
    int register = word >>> 12 & 15;
    boolean loads = (word & 1 << 20) != 0;
    boolean isMove = (word & 0x0f00_0010) == 0x0e00_0010;
    boolean isPair = (word & 0x0fe0_0000) == 0x0c40_0000;
    if (isPair) {
      way.reads(loads ? PC : word >>> 16 & 15);
    } else if ((word & 0x0e00_0000) == 0x0c00_0000) {
      way.reads(word >>> 16 & 15);
    }
    if (isMove || isPair) {
      if (loads) {
        way.writes(register);
      } else {
        way.reads(register);
      }
    }
  }
}
