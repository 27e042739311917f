package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.LinkReads;

/**
 * What the instructions of riscv do with registers. The RISC-V Instruction Set Manual, Volume I,
 * "RV32/64G Instruction Set Listings" and "C" Standard Extension.
 *
 * @param wordBytes of a register: 8 or 4
 */
record RiscvLink(int wordBytes) implements LinkReads.Steps {
  private static final int RA = 1;
  private static final int T0 = 5;

  /** sp, gp, tp, s0 to s11. */
  private static final long KEPT = 0x0ffc_031cL;

  /** a0 to a7. */
  private static final long PASSED = 0x0003_fc00L;

  /** sp and s0. */
  private static final long FRAMES = 0x104L;

  /** Which functions read the return address in ra. */
  LinkReads reads() {
    return new LinkReads(Riscv::length, this, RA, KEPT, PASSED, FRAMES, false);
  }

  @Override
  public void step(long at, long code, LinkReads.Way way) {
    if ((code & 3) == 3) {
      wide(at, (int) code, way);
    } else {
      compressed(at, (int) code & 0xffff, way);
    }
  }

  private static void wide(long at, int code, LinkReads.Way way) {
    int to = code >>> 7 & 31;
    int first = code >>> 15 & 31;
    int second = code >>> 20 & 31;
    switch (code & 0x7f) {
      case 0x6f -> {
        if (to == T0) { // __riscv_save_n
          way.saves(RA);
        } else if (to == 0) {
          way.jumps(Riscv.nearTarget(at, code));
        } else {
          way.calls();
        }
      }
      case 0x67 -> jump(to, first, way);
      case 0x63 -> {
        way.reads(first);
        way.reads(second);
        way.branches(at + branch(code));
      }
      case 0x23 -> store(first, second, way);
      case 0x13 -> {
        if ((code & 0xfff0_7000) == 0) {
          way.copies(first, to);
        } else {
          way.reads(first);
          way.writes(to);
        }
      }
      case 0x03, 0x1b -> {
        way.reads(first);
        way.writes(to);
      }
      case 0x33, 0x3b, 0x2f -> {
        way.reads(first);
        way.reads(second);
        way.writes(to);
      }
      case 0x17, 0x37, 0x73 -> way.writes(to);
      case 0x53 -> {
        int operation = code >>> 27;
        if (operation == 0b11010 || operation == 0b11110) { // fcvt and fmv of an integer
          way.reads(first);
        } else if (operation == 0b10100 || operation == 0b11000 || operation == 0b11100) {
          way.writes(to);
        }
      }
      default -> {} // floating point, fence
    }
  }

  private static void jump(int to, int register, LinkReads.Way way) {
    if (to != 0) {
      way.calls();
    } else if (register == RA) {
      way.returns();
    } else {
      way.reads(register);
      way.jumpsByRegister();
    }
  }

  private static void store(int base, int register, LinkReads.Way way) {
    way.reads(base);
    way.stores(register, base);
  }

  private void compressed(long at, int code, LinkReads.Way way) {
    int full = code >>> 7 & 31;
    int second = code >>> 2 & 31;
    int near = 8 + (code >>> 7 & 7);
    int nearSecond = 8 + (code >>> 2 & 7);
    if (wordBytes == Integer.BYTES && (code & 1) == 0 && (code >>> 13 & 3) == 3) {
      return; // floating point, where the wider set has ld and sd
    }
    switch (((code << 3) & 0x18) | (code >>> 13)) {
      case 0b00_000 -> way.writes(nearSecond);
      case 0b00_010, 0b00_011 -> {
        way.reads(near);
        way.writes(nearSecond);
      }
      case 0b00_110, 0b00_111 -> store(near, nearSecond, way);
      case 0b01_000, 0b10_000 -> {
        way.reads(full);
        way.writes(full);
      }
      case 0b01_001 -> {
        if (wordBytes == Integer.BYTES) {
          way.calls();
        } else {
          way.reads(full);
          way.writes(full);
        }
      }
      case 0b01_010, 0b01_011, 0b10_010, 0b10_011 -> way.writes(full);
      case 0b01_100 -> {
        way.reads(near);
        if ((code >>> 10 & 3) == 3) {
          way.reads(nearSecond);
        }
        way.writes(near);
      }
      case 0b01_101 -> way.jumps(Riscv.compressedTarget(at, code));
      case 0b01_110, 0b01_111 -> {
        way.reads(near);
        way.branches(at + compressedBranch(code));
      }
      case 0b10_100 -> {
        boolean isSum = (code & 0x1000) != 0;
        if (second == 0) {
          jump(isSum ? RA : 0, full, way);
        } else if (isSum) {
          way.reads(full);
          way.reads(second);
          way.writes(full);
        } else {
          way.copies(second, full);
        }
      }
      case 0b10_110, 0b10_111 -> way.saves(second);
      default -> {} // floating point
    }
  }

  /** The B-immediate, bits 12|10:5 and 4:1|11. */
  private static int branch(int code) {
    return ((code >> 31) << 12)
        | ((code & 0x80) << 4)
        | ((code >>> 20) & 0x7e0)
        | ((code >>> 7) & 0x1e);
  }

  /** The CB-immediate, bits 8|4:3 and 7:6|2:1|5. */
  private static int compressedBranch(int code) {
    return ((code << 19 >> 31) << 8)
        | ((code >>> 7) & 0x18)
        | ((code << 1) & 0xc0)
        | ((code >>> 2) & 6)
        | ((code << 3) & 0x20);
  }
}
