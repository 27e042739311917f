package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.LinkReads;
import java.nio.ByteOrder;

/**
 * What the instructions of MIPS do with registers. MIPS64 Architecture For Programmers, Volume II,
 * appendix A "Instruction Bit Encodings".
 *
 * @param order byte order of the instructions
 */
record MipsLink(ByteOrder order) implements LinkReads.Steps {
  private static final int LINK = 31;

  /** $29 and $30. */
  private static final long FRAMES = 0x6000_0000L;

  /** $16 to $23, $28 to $30. */
  private static final long KEPT = 0x70ff_0000L;

  /** $2 to $11. */
  private static final long PASSED = 0x0ffcL;

  /** Which functions read the return address in $31. */
  LinkReads reads() {
    return new LinkReads(_ -> 4, this, LINK, KEPT, PASSED, FRAMES, true, true);
  }

  @Override
  public void step(long at, long code, LinkReads.Way way) {
    int word = Code.word(order, code);
    int first = word >>> 21 & 31;
    int second = word >>> 16 & 31;
    long target = at + 4 + ((long) (short) word << 2);
    switch (word >>> 26) {
      case 0 -> special(word, first, second, way);
      case 1 -> {
        way.reads(first);
        if ((second & 0x10) == 0) {
          way.branches(target);
        } else if (target == at + 8) { // reads where it stands
          way.writes(LINK);
        } else {
          way.calls();
        }
      }
      case 2 -> way.jumps((at + 4 & ~0xfff_ffffL) | (word & 0x3ff_ffff) << 2);
      case 3 -> way.calls();
      case 4, 5, 6, 7, 20, 21, 22, 23 -> {
        way.reads(first);
        way.reads(second);
        if (word >>> 16 == 0x1000) { // b
          way.jumps(target);
        } else {
          way.branches(target);
        }
      }
      case 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 32, 33, 34, 35, 36, 37, 38, 39, 48, 55 -> {
        way.reads(first);
        way.writes(second);
      }
      case 40, 41, 42, 43, 44, 45, 46, 56, 63 -> {
        way.reads(first);
        way.stores(second, first);
      }
      case 17 -> coprocessor(first, second, target, way);
      case 28 -> {
        way.reads(first);
        way.reads(second);
        way.writes(word >>> 11 & 31);
      }
      case 31 -> {
        way.reads(first);
        boolean isOfSecond = (word & 0x3b) == 0x20; // seb, wsbh, dsbh
        if (isOfSecond) {
          way.reads(second);
        }
        way.writes(isOfSecond ? word >>> 11 & 31 : second);
      }
      default -> way.reads(first); // of memory
    }
  }

  private static void special(int word, int first, int second, LinkReads.Way way) {
    int to = word >>> 11 & 31;
    int function = word & 63;
    boolean isSum = function == 0x21 || function == 0x25 || function == 0x2d;
    if (function == 8 && first == LINK) {
      way.returns();
    } else if (function == 8) {
      way.reads(first);
      way.jumpsByRegister();
    } else if (function == 9) {
      way.calls();
    } else if (isSum && second == 0) {
      way.copies(first, to);
    } else if (function != 12 && function != 13) { // syscall, break
      way.reads(first);
      way.reads(second);
      way.writes(to);
    }
  }

  /** {@code mfc1}, {@code mtc1}, {@code bc1t}. */
  private static void coprocessor(int operation, int register, long target, LinkReads.Way way) {
    switch (operation) {
      case 0, 1, 2, 3 -> way.writes(register);
      case 4, 5, 6, 7 -> way.reads(register);
      case 8 -> way.branches(target);
      default -> {}
    }
  }
}
