package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.ReturnReads;
import it.unimi.dsi.fastutil.longs.Long2IntMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;

/**
 * Whether a function of m68k reads return addresses. It follows the stack pointer through the code,
 * so that it knows which operand is the word above the frame; and a6 where {@code link} makes a
 * frame.
 *
 * <p>M68000 Family Programmer's Reference Manual, 2 "Addressing Capabilities" and 8 "Instruction
 * Format Summary".
 */
final class M68kReturns implements ReturnReads {
  private static final int SP = 7;
  private static final int FP = 6;
  private static final int WORD = 4;
  private static final int UNKNOWN_DEPTH = Integer.MIN_VALUE / 2;

  // modes of an effective address
  private static final int IN_REGISTER = 1;
  private static final int INDIRECT = 2;
  private static final int POPS = 3;
  private static final int PUSHES = 4;
  private static final int DISPLACED = 5;
  private static final int INDEXED = 6;
  private static final int OTHER = 7;

  @Override
  public Kind of(Code code, long function, long from, long end) {
    Walk walk = new Walk(code);
    for (long at = function; at - end < 0; at = walk.next) {
      walk.step(at);
    }
    return walk.kind;
  }

  /** The stack pointer, as far as it is known at an instruction. */
  private static final class Walk {
    private final Code code;
    private final Long2IntMap depths = new Long2IntOpenHashMap();
    private Kind kind = Kind.NONE;

    /** Where the instruction behind this one begins. */
    private long next;

    /** Bytes from the stack pointer up to the return address. */
    private int depth;

    /** True where a6 points at the caller's, below the return address. */
    private boolean hasFrame;

    /** True where the instruction before goes nowhere else than where it says. */
    private boolean isOver;

    Walk(Code code) {
      this.code = code;
      depths.defaultReturnValue(UNKNOWN_DEPTH);
    }

    private int half(long address) {
      return code.bigEndianWord(address) >>> 16;
    }

    void step(long address) {
      int known = depths.get(address);
      if (isOver) {
        depth = known;
      }
      isOver = false;
      int word = half(address);
      next = address + 2;
      switch (word >>> 12) {
        case 0 -> bits(word);
        case 1, 2, 3 -> move(word);
        case 4 -> other(word);
        case 5 -> quick(address, word);
        case 6 -> branch(address, word);
        case 7 -> {} // moveq
        case 0xe -> {
          if ((word >>> 6 & 3) == 3) {
            next += (word & 0x0800) != 0 ? 2 : 0;
            operand(word, WORD, true);
          }
        }
        case 0xf -> floats(word);
        default -> arithmetic(word);
      }
    }

    /** {@code ori} to {@code cmpi}, {@code btst} to {@code bset}. */
    private void bits(int word) {
      int size = word >>> 6 & 3;
      boolean byRegister = (word & 0x0100) != 0;
      boolean movep = byRegister && (word >>> 3 & 7) == IN_REGISTER;
      next += movep ? 2 : byRegister ? 0 : size == 2 && (word & 0x0f00) != 0x0800 ? 4 : 2;
      if (!movep) {
        operand(word, WORD, true);
      }
    }

    private void move(int word) {
      int size = word >>> 12 == 1 ? 1 : word >>> 12 == 3 ? 2 : WORD;
      boolean takesFrame = hasFrame && word >>> 12 == 2 && (word & 0x3f) == (IN_REGISTER << 3 | FP);
      if (takesFrame && !isLocal(word >>> 9 & 7)) {
        kind = Kind.ALL;
      }
      boolean isFrame = (word & 0x01ff) == (IN_REGISTER << 6 | SP) && word >>> 12 == 2;
      if (isFrame && (word >>> 9 & 7) == FP) {
        hasFrame = false;
      }
      operand(word, size, true);
      operand((word >>> 3 & 0x38) | (word >>> 9 & 7), size, false);
    }

    /** {@code addi.l #n} or {@code subq.l} behind a copy of a6: the address of a variable. */
    private boolean isLocal(int register) {
      return half(next) == (0x0680 | register) || (half(next) & 0xf1ff) == (0x5180 | register);
    }

    private void other(int word) {
      if ((word & 0xfff8) == 0x4e50 || (word & 0xfff8) == 0x4808) { // link
        boolean isLong = (word & 0xfff8) == 0x4808;
        int bytes = isLong ? code.bigEndianWord(next) : (short) half(next);
        hasFrame |= (word & 7) == FP && depth == 0;
        depth += WORD - bytes;
        next += isLong ? 4 : 2;
      } else if ((word & 0xfff8) == 0x4e58) { // unlk
        depth = 0;
      } else if (word == 0x4e74 || word == 0x4e75 || word == 0x4e73) { // rtd, rts, rte
        next += word == 0x4e74 ? 2 : 0;
        isOver = true;
      } else if ((word & 0xfff0) == 0x4e40 || (word & 0xfff8) == 0x4e70 || isPlain(word)) {
        next += word == 0x4e72 ? 2 : 0; // stop
      } else if ((word & 0xfffe) == 0x4e7a || (word & 0xff80) == 0x4c00) { // movec, mulu.l, divu.l
        next += 2;
        if ((word & 0xff80) == 0x4c00) {
          operand(word, WORD, true);
        }
      } else if ((word & 0xfb80) == 0x4880) { // movem
        int registers = Integer.bitCount(half(next));
        int size = (word & 0x40) != 0 ? WORD : 2;
        next += 2;
        operand(word, size * registers, (word & 0x0400) != 0);
      } else {
        boolean isPea = (word & 0xffc0) == 0x4840;
        boolean isLea = (word & 0x01c0) == 0x01c0;
        boolean isJump = (word & 0xffc0) == 0x4ec0;
        boolean isCall = (word & 0xffc0) == 0x4e80;
        int offset = half(next);
        operand(word, 0, !isPea && !isLea && !isJump && !isCall);
        boolean ofStack = isLea && (word >>> 9 & 7) == SP && (word & 7) == SP;
        if (ofStack && (word >>> 3 & 7) == DISPLACED) {
          depth -= (short) offset;
        }
        depth += isPea ? WORD : 0;
        isOver = isJump;
      }
    }

    /** {@code swap}, {@code ext}, {@code bkpt}: of a register. */
    private static boolean isPlain(int word) {
      int mode = word >>> 3 & 7;
      boolean swaps = (word & 0xffc0) == 0x4840 && mode <= IN_REGISTER;
      boolean widens = ((word & 0xff80) == 0x4880 || (word & 0xffc0) == 0x49c0) && mode == 0;
      return swaps || widens;
    }

    /** {@code addq}, {@code subq}, {@code scc}, {@code dbcc}, {@code trapcc}. */
    private void quick(long address, int word) {
      int mode = word >>> 3 & 7;
      boolean isCondition = (word >>> 6 & 3) == 3;
      if (isCondition && mode == IN_REGISTER) {
        goesTo(address + 2 + (short) half(next));
        next += 2;
      } else if (isCondition && mode == OTHER && (word & 7) > 1) {
        next += (word & 7) == 2 ? 2 : (word & 7) == 3 ? 4 : 0;
      } else if (mode == IN_REGISTER && (word & 7) == SP) {
        int number = (word >>> 9 & 7) == 0 ? 8 : word >>> 9 & 7;
        depth += (word & 0x0100) != 0 ? number : -number;
      } else {
        operand(word, 1 << (word >>> 6 & 3), true);
      }
    }

    private void branch(long address, int word) {
      int distance = (byte) word;
      next += distance == 0 ? 2 : distance == -1 ? 4 : 0;
      long target =
          address
              + 2
              + switch (distance) {
                case 0 -> (short) half(address + 2);
                case -1 -> code.bigEndianWord(address + 2);
                default -> distance;
              };
      int condition = word >>> 8 & 15;
      if (condition != 1) { // not bsr
        goesTo(target);
      } else if (target == next) {
        depth += WORD; // reads its own address
      }
      isOver = condition == 0;
    }

    private void arithmetic(int word) {
      int mode = word >>> 6 & 7;
      boolean isAddress = mode == 3 || mode == 7;
      int size = mode == 7 ? WORD : mode == 3 ? 2 : 1 << (mode & 3);
      boolean extended = mode > 3 && mode < 7 && (word >>> 3 & 7) <= IN_REGISTER; // addx, pack
      boolean packs = (word & 0xb1f0) == 0x8140 || (word & 0xb1f0) == 0x8180;
      if (extended && word >>> 12 != 0xb) {
        next += packs && word >>> 12 == 8 ? 2 : 0;
      } else {
        boolean isOfStack = isAddress && (word >>> 9 & 7) == SP;
        boolean isNumber = (word & 0x3f) == 0x3c;
        int number = size == WORD ? code.bigEndianWord(next) : (short) half(next);
        operand(word, size, true);
        boolean adds = word >>> 12 == 0xd;
        boolean subtracts = word >>> 12 == 9;
        if (isOfStack && (adds || subtracts)) {
          depth = isNumber ? depth + (adds ? -number : number) : UNKNOWN_DEPTH;
        }
      }
    }

    /** Decodes instructions of the coprocessor for floating point. */
    private void floats(int word) {
      int type = word >>> 6 & 7;
      if (type == 2 || type == 3) { // fbcc
        next += type == 2 ? 2 : 4;
      } else if (type <= 1) {
        int command = half(next);
        next += 2;
        boolean moves = command >>> 14 == 3; // fmovem of registers
        int format = command >>> 10 & 7;
        int[] bytes = {4, 4, 12, 12, 2, 8, 1, 12};
        boolean ofMemory = (command & 0x4000) != 0 || (type == 0 && (command >>> 13 & 3) != 0);
        if (type == 1) {
          next += (word >>> 3 & 7) == IN_REGISTER ? 2 : 0;
          if ((word >>> 3 & 7) != IN_REGISTER) {
            operand(word, 1, false);
          }
        } else if (moves) {
          operand(word, 12 * Integer.bitCount(command & 0xff), (command & 0x2000) == 0);
        } else if (ofMemory) {
          operand(word, command >>> 14 == 2 ? 4 : bytes[format], (command & 0x2000) == 0);
        }
      } else {
        operand(word, 0, false); // fsave, frestore
      }
    }

    /** Reads an operand: what it does to the stack pointer, and whether it is a return address. */
    private void operand(int word, int bytes, boolean loads) {
      int mode = word >>> 3 & 7;
      int register = word & 7;
      int offset = mode == DISPLACED ? (short) half(next) : 0;
      next +=
          switch (mode) {
            case DISPLACED -> 2;
            case INDEXED -> indexed(half(next));
            case OTHER ->
                switch (register) {
                  case 0, 2 -> 2;
                  case 1 -> 4;
                  case 3 -> indexed(half(next));
                  default -> Math.max(2, bytes + 1 & -2);
                };
            default -> 0;
          };
      boolean isPlain = mode == INDIRECT || mode == DISPLACED;
      boolean isFrame = isPlain && hasFrame && register == FP;
      boolean isStack = (isPlain || mode == POPS) && register == SP;
      if (loads && ((isFrame && offset == WORD) || (isStack && offset == depth))) {
        kind = kind.and(Kind.OWN);
      }
      if (loads && isFrame && offset == 0) {
        kind = Kind.ALL;
      }
      int moved = bytes == 1 ? 2 : bytes;
      depth += register != SP ? 0 : mode == PUSHES ? moved : mode == POPS ? -moved : 0;
    }

    /** Bytes behind the instruction that say which address an index makes. */
    private static int indexed(int extension) {
      if ((extension & 0x0100) == 0) {
        return 2;
      }
      int base = extension >>> 4 & 3;
      int outer = extension & 3;
      return 2 + (base == 3 ? 4 : base == 2 ? 2 : 0) + (outer == 3 ? 4 : outer == 2 ? 2 : 0);
    }

    private void goesTo(long target) {
      depths.putIfAbsent(target, depth);
    }
  }
}
