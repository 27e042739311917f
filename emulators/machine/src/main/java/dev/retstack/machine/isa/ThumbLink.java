package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.LinkReads;

/**
 * What the instructions of Thumb-2 do with lr; a copy of it is a read. Arm Architecture Reference
 * Manual ARMv7-A, A6 "Thumb Instruction Set Encoding".
 */
final class ThumbLink implements LinkReads.Steps {
  /** Which functions read the return address in lr. */
  static LinkReads reads() {
    return new LinkReads(
        Arm.Thumb::length,
        new ThumbLink(),
        ArmLink.LR,
        ArmLink.KEPT,
        ArmLink.PASSED,
        ArmLink.FRAMES,
        true);
  }

  @Override
  public void step(long at, long code, LinkReads.Way way) {
    int first = (int) code & 0xffff;
    if (Arm.Thumb.length(code) == 2) {
      narrow(at, first, way);
    } else {
      wide(at, first, (int) (code >>> 16) & 0xffff, way);
    }
  }

  /** lr is in few of 16 bits: those of all registers, and {@code push}. */
  private static void narrow(long at, int code, LinkReads.Way way) {
    int to = (code & 7) | ((code >>> 4) & 8);
    int from = code >>> 3 & 15;
    switch (code >>> 8) {
      case 0x44 -> {
        way.reads(from);
        way.reads(to);
        way.writes(to);
      }
      case 0x45 -> {
        way.reads(from);
        way.reads(to);
      }
      case 0x46 -> {
        if (to == ArmLink.PC && from == ArmLink.LR) {
          way.returns();
        } else {
          way.reads(from);
          way.writes(to);
        }
      }
      case 0x47 -> {
        if ((code & 0x80) != 0) {
          way.calls();
        } else if (from == ArmLink.LR) {
          way.returns();
        } else {
          way.jumpsByRegister();
        }
      }
      case 0xb5 -> way.saves(ArmLink.LR);
      case 0xbd -> way.returns();
      case 0xbf -> {
        if ((code & 15) != 0) { // it
          way.conditionally(5 - Integer.numberOfTrailingZeros(code & 15));
        }
      }
      case 0xb1, 0xb3, 0xb9, 0xbb -> // cbz, cbnz
          way.branches(at + 4 + (code >>> 3 & 0x40) + (code >>> 2 & 0x3e));
      case 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7 -> way.jumps(at + 4 + (code << 21 >> 20));
      case 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd ->
          way.branches(at + 4 + 2L * (byte) code);
      default -> {}
    }
  }

  private static void wide(long at, int first, int second, LinkReads.Way way) {
    int base = first & 15;
    int high = second >>> 12;
    int middle = second >>> 8 & 15;
    int low = second & 15;
    switch (first >>> 9 & 15) {
      case 4 -> several(first, second, way); // 1110 100
      case 5 -> { // 1110 101: two registers
        way.reads(base);
        way.reads(low);
        way.writes(middle);
      }
      case 8, 9, 10, 11 -> { // 1111 0
        if ((second & 0x8000) != 0) {
          branch(at, first, second, way);
        } else {
          boolean isNumber = (first & 0x03f0 & ~0x80) == 0x0240; // movw, movt
          way.reads(isNumber ? ArmLink.PC : base);
          way.writes(middle);
        }
      }
      case 12 -> single(first, second, way); // 1111 100
      case 13 -> { // 1111 101
        way.reads(base);
        way.reads(low);
        if ((first & 0x0180) == 0x0180) {
          way.writes(high); // products of 64 bits
        } else if ((first & 0x0100) != 0) {
          way.reads(high);
        }
        way.writes(middle);
      }
      default -> ArmLink.coprocessor(first << 16 | second, way);
    }
  }

  /** {@code ldm}, {@code stm}, {@code ldrd}, {@code strd}, {@code tbb}. */
  private static void several(int first, int second, LinkReads.Way way) {
    int base = first & 15;
    boolean loads = (first & 0x10) != 0;
    if ((first & 0x40) == 0) {
      ArmLink.multiple(base, second, loads, way);
    } else if ((first & 0xfff0) == 0xe8d0 && (second & 0xf0) < 0x20) {
      way.jumpsByRegister(); // tbb, tbh
    } else {
      way.reads(base);
      for (int register : new int[] {second >>> 12, second >>> 8 & 15}) {
        if (loads) {
          way.writes(register);
        } else {
          way.stores(register, base);
        }
      }
    }
  }

  private static void branch(long at, int first, int second, LinkReads.Way way) {
    if ((second & 0x4000) != 0) { // bl, blx
      way.calls();
    } else if ((second & 0x1000) != 0) {
      way.jumps(at + 4 + Arm.Thumb.distance(Integer.toUnsignedLong(second) << 16 | first));
    } else if ((first & 0x0380) != 0x0380) { // not msr, dmb and the like
      int bits =
          ((first >>> 10 & 1) << 20)
              | ((second >>> 11 & 1) << 19)
              | ((second >>> 13 & 1) << 18)
              | ((first & 0x3f) << 12)
              | ((second & 0x7ff) << 1);
      way.branches(at + 4 + (bits << 11 >> 11));
    }
  }

  private static void single(int first, int second, LinkReads.Way way) {
    int base = first & 15;
    int register = second >>> 12;
    way.reads(base);
    if ((first & 0x80) == 0 && (second & 0x0fc0) == 0) {
      way.reads(second & 15);
    }
    if ((first & 0x10) == 0) {
      way.stores(register, base);
    } else if (register != ArmLink.PC) {
      way.writes(register);
    } else if ((first & 0x60) == 0x40) {
      way.jumpsByRegister();
    }
  }
}
