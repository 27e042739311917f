package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.ReturnReads;
import it.unimi.dsi.fastutil.longs.Long2IntMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Whether a function of x86 reads return addresses. It follows the stack pointer through the code,
 * instruction by instruction, so that it knows which operand is the word above the frame.
 *
 * <p>Intel SDM, volume 2, chapter 2 "Instruction Format" and appendix A "Opcode Map".
 */
record X86Returns(int wordBytes) implements ReturnReads {
  private static final int SP = 4;
  private static final int BP = 5;
  private static final int UNKNOWN_DEPTH = Integer.MIN_VALUE / 2;

  /** Instructions of a called function in which its return is looked for. */
  private static final int CALLEE_MOST = 4096;

  /** Opcodes of one byte that read their operand in memory, and do not write it. */
  private static final Set<Integer> LOADS =
      Set.of(0x03, 0x0b, 0x13, 0x1b, 0x23, 0x2b, 0x33, 0x39, 0x3b, 0x85, 0x8b);

  /** Opcodes of two bytes that read vectors in memory. */
  private static final Set<Integer> VECTOR_LOADS = Set.of(0x10, 0x12, 0x16, 0x28, 0x6e, 0x6f);

  @Override
  public Kind of(Code code, long function, long from, long end) {
    Walk walk = new Walk(code);
    for (long at = function; at - end < 0; at += walk.size) {
      walk.step(at);
    }
    return walk.kind;
  }

  /** The stack pointer, as far as it is known at an instruction. */
  private final class Walk {
    private final Code code;
    private final Long2IntMap depths = new Long2IntOpenHashMap();
    private Kind kind = Kind.NONE;

    /** Bytes from the stack pointer up to the return address. */
    private int depth;

    /** Bytes from the frame pointer up to the return address. */
    private int frame = UNKNOWN_DEPTH;

    /** True where the instruction before goes nowhere else than where it says. */
    private boolean isOver;

    /** True where the instruction before is a call, and what that pops is not known. */
    private boolean hasUnknownPops;

    // the instruction
    private int size;
    private boolean wide;
    private boolean isShort;
    private boolean repeats;
    private int rex;
    private int map;
    private int opcode;
    private int modrm;
    private boolean hasMemory;
    private int base;
    private int offset;

    Walk(Code code) {
      this.code = code;
      depths.defaultReturnValue(UNKNOWN_DEPTH);
    }

    private int at(long address) {
      return (int) code.at(address) & 0xff;
    }

    void step(long address) {
      int known = depths.get(address);
      if (isOver || depth < UNKNOWN_DEPTH / 2) { // nops may stand in front of where a jump goes
        depth = known;
      }
      boolean mayHavePopped = hasUnknownPops;
      isOver = false;
      hasUnknownPops = false;
      decode(address);
      read();
      if (!mayHavePopped || opcode != 0x83 || modrm != 0xec) { // sub: as much as was popped
        move(address);
      }
    }

    /**
     * A call of a function: of i386 it may pop its arguments, as it pops the address of a struct.
     */
    private void call(OptionalLong function) {
      int pops = wordBytes == 4 && function.isPresent() ? pops(function.getAsLong()) : 0;
      hasUnknownPops = wordBytes == 4 && (function.isEmpty() || pops < 0);
      depth -= Math.max(0, pops);
    }

    /** Bytes that a function pops with its return address; negative where no return is found. */
    private int pops(long function) {
      Walk callee = new Walk(code);
      long at = function;
      for (int i = 0; i < CALLEE_MOST; i++) {
        callee.decode(at);
        at += callee.size;
        if (callee.map == 0 && (callee.opcode == 0xc2 || callee.opcode == 0xc3)) {
          return callee.opcode == 0xc3 ? 0 : (int) code.at(at - 2) & 0xffff;
        }
      }
      return -1;
    }

    private void decode(long address) {
      long at = address;
      wide = false;
      isShort = false;
      repeats = false;
      rex = 0;
      map = 0;
      int next = at(at++);
      while (isPrefix(next) && at - address < 12) {
        isShort |= next == 0x66;
        repeats |= next == 0xf3;
        next = at(at++);
      }
      if (wordBytes == 8 && (next & 0xf0) == 0x40) {
        rex = next;
        wide = (rex & 8) != 0;
        next = at(at++);
      }
      boolean vector =
          (next == 0xc4 || next == 0xc5 || next == 0x62)
              && (wordBytes == 8 || (at(at) & 0xc0) == 0xc0);
      if (vector) {
        map = next == 0xc5 ? 1 : at(at) & 7;
        at += next == 0xc5 ? 1 : next == 0xc4 ? 2 : 3;
        next = at(at++);
      } else if (next == 0x0f) {
        next = at(at++);
        map = next == 0x38 ? 2 : next == 0x3a ? 3 : 1;
        next = map > 1 ? at(at++) : next;
      }
      opcode = next;
      hasMemory = false;
      base = -1;
      if (hasModrm()) {
        at = operand(at);
      }
      size = (int) (at + immediate() - address);
    }

    private static boolean isPrefix(int code) {
      return code == 0x66
          || code == 0x67
          || (code & 0xfe) == 0xf2
          || code == 0xf0
          || (code & 0xe7) == 0x26
          || (code & 0xfe) == 0x64;
    }

    private boolean hasModrm() {
      return switch (map) {
        case 0 ->
            (opcode < 0x40 && (opcode & 7) < 4)
                || opcode == 0x63
                || (opcode & 0xfd) == 0x69
                || (opcode & 0xf0) == 0x80
                || (opcode & 0xfe) == 0xc0
                || (opcode & 0xfe) == 0xc6
                || (opcode & 0xfc) == 0xd0
                || (opcode & 0xf8) == 0xd8
                || (opcode & 0xf6) == 0xf6;
        case 1 ->
            !((opcode >= 0x05 && opcode <= 0x0b)
                || (opcode & 0xf8) == 0x30
                || opcode == 0x77
                || (opcode & 0xf0) == 0x80
                || ((opcode & 0xf7) >= 0xa0 && (opcode & 0xf7) <= 0xa2)
                || (opcode & 0xf8) == 0xc8);
        default -> true;
      };
    }

    /** Reads the operands; returns where the rest begins. */
    private long operand(long start) {
      long at = start;
      modrm = at(at++);
      int mod = modrm >> 6;
      hasMemory = mod != 3;
      if (!hasMemory) {
        return at;
      }
      int rm = modrm & 7;
      boolean isPlain = true;
      if (rm == SP) {
        int sib = at(at++);
        rm = sib & 7;
        isPlain = (sib >> 3 & 7) == SP && (rex & 2) == 0;
      }
      boolean isAbsolute = mod == 0 && rm == BP;
      base = isAbsolute || !isPlain || (rex & 1) != 0 ? -1 : rm;
      offset = mod == 1 ? (byte) at(at) : mod == 2 ? (int) code.at(at) : 0;
      return at + (mod == 1 ? 1 : mod == 2 || isAbsolute ? 4 : 0);
    }

    private int immediate() {
      int number = isShort ? 2 : 4;
      if (map == 3) {
        return 1;
      }
      if (map == 1) {
        return switch (opcode) {
          case 0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6 -> 1;
          default -> (opcode & 0xf0) == 0x80 ? 4 : 0;
        };
      }
      if (map != 0) {
        return 0;
      }
      if (opcode < 0x40) {
        return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? number : 0;
      }
      return switch (opcode) {
        case 0x68, 0x69, 0x81, 0xa9, 0xc7 -> number;
        case 0x6a, 0x6b, 0x80, 0x82, 0x83, 0xa8, 0xc0, 0xc1, 0xc6, 0xcd, 0xd4, 0xd5, 0xeb -> 1;
        case 0xa0, 0xa1, 0xa2, 0xa3 -> wordBytes;
        case 0xc2 -> 2;
        case 0xc8 -> 3;
        case 0xe8, 0xe9 -> 4;
        case 0x9a, 0xea -> 6;
        case 0xf6 -> (modrm >> 3 & 6) == 0 ? 1 : 0;
        case 0xf7 -> (modrm >> 3 & 6) == 0 ? number : 0;
        default ->
            (opcode & 0xf0) == 0x70 || (opcode & 0xf8) == 0xb0 || (opcode & 0xf8) == 0xe0
                ? 1
                : (opcode & 0xf8) == 0xb8 ? wide ? 8 : number : 0;
      };
    }

    private int reg() {
      return (modrm >> 3 & 7) | ((rex & 4) != 0 ? 8 : 0);
    }

    private int rm() {
      return (modrm & 7) | ((rex & 1) != 0 ? 8 : 0);
    }

    private void read() {
      if (!hasModrm()) {
        return;
      }
      if (base == SP && loads() && offset == depth) {
        kind = kind.and(Kind.OWN);
      }
      if (frame == UNKNOWN_DEPTH) {
        return;
      }
      if (base == BP && loads() && offset == frame) {
        kind = kind.and(Kind.OWN);
      }
      boolean isCallers = base == BP && offset == frame - wordBytes;
      boolean takesCallers = isCallers && map == 0 && opcode == 0x8b && reg() != BP;
      boolean takesAddress = isCallers && map == 0 && opcode == 0x8d && reg() != BP;
      boolean copies =
          map == 0
              && ((opcode == 0x89 && reg() == BP && (hasMemory || rm() != SP))
                  || (opcode == 0x8b && !hasMemory && rm() == BP && reg() != SP));
      if (takesCallers || takesAddress || copies) {
        kind = Kind.ALL;
      }
    }

    private boolean loads() {
      return switch (map) {
        case 0 ->
            LOADS.contains(opcode)
                || (opcode == 0xff && (modrm >> 3 & 7) == 6)
                || ((opcode == 0x81 || opcode == 0x83) && (modrm >> 3 & 7) == 7);
        case 1 ->
            VECTOR_LOADS.contains(opcode) || (opcode & 0xf0) == 0x40 || (opcode == 0x7e && repeats);
        default -> false;
      };
    }

    /** What the instruction does to the stack pointer and the frame pointer, and where it goes. */
    private void move(long address) {
      if (map == 1 && (opcode & 0xf0) == 0x80) {
        goesTo(address + size + (int) code.at(address + size - 4));
      }
      if (map != 0) {
        return;
      }
      if ((opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a || opcode == 0x9c) {
        depth += wordBytes;
      } else if ((opcode & 0xf8) == 0x58 || opcode == 0x9d) {
        depth -= wordBytes;
      }
      int immediate = (int) code.at(address + size - (opcode == 0x83 ? 1 : 4));
      int number = opcode == 0x83 ? (byte) immediate : immediate;
      switch (opcode) {
        case 0xff -> {
          depth += (modrm >> 3 & 7) == 6 ? wordBytes : 0;
          isOver = (modrm >> 3 & 7) == 4;
          if ((modrm >> 3 & 7) == 2) {
            call(OptionalLong.empty());
          }
        }
        case 0x8f -> depth -= wordBytes;
        case 0x81, 0x83 -> {
          if (!hasMemory && rm() == SP) {
            depth += (modrm >> 3 & 7) == 5 ? number : (modrm >> 3 & 7) == 0 ? -number : 0;
          }
        }
        case 0x8d -> {
          if (reg() == SP && base == SP) {
            depth -= offset;
          } else if (reg() == SP && base == BP) {
            depth = frame - offset;
          } else if (reg() == BP && base == SP) {
            setFrame(depth - offset);
          }
        }
        case 0x89, 0x8b -> {
          int to = opcode == 0x89 ? rm() : reg();
          int of = opcode == 0x89 ? reg() : rm();
          if (!hasMemory && to == BP && of == SP) {
            setFrame(depth);
          } else if (!hasMemory && to == SP && of == BP) {
            depth = frame;
          }
        }
        case 0xc8 -> {
          frame = depth + wordBytes;
          depth = frame + ((int) code.at(address + 1) & 0xffff);
        }
        case 0xc9 -> depth = frame - wordBytes;
        case 0xe8 -> {
          if (number == 0) { // reads where it stands
            depth += wordBytes;
          } else {
            call(OptionalLong.of(address + size + number));
          }
        }
        case 0xe9 -> {
          goesTo(address + size + number);
          isOver = true;
        }
        case 0xeb -> {
          goesTo(address + size + (byte) (int) code.at(address + size - 1));
          isOver = true;
        }
        case 0xc2, 0xc3 -> isOver = true;
        default -> {
          if ((opcode & 0xf0) == 0x70) {
            goesTo(address + size + (byte) (int) code.at(address + size - 1));
          }
        }
      }
    }

    /** A frame that others can walk along has the caller's frame pointer below the address. */
    private void setFrame(int bytes) {
      frame = bytes == wordBytes ? bytes : UNKNOWN_DEPTH;
    }

    private void goesTo(long target) {
      depths.putIfAbsent(target, depth);
    }
  }
}
