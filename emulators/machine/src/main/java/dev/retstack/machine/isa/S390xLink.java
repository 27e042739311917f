package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.LinkReads;
import it.unimi.dsi.fastutil.ints.IntSet;

/**
 * What the instructions of s390x do with r14; a copy of it is a read. z/Architecture Principles of
 * Operation, 5 "Instruction Formats" and appendix B.
 */
final class S390xLink implements LinkReads.Steps {
  private static final int LINK = 14;

  /** {@code lg %r14,8(%r15)}: behind the counting function's call. */
  private static final long COUNTED = 0xe3e0_f008_0004L;

  /** r6 to r13 and r15. */
  private static final long KEPT = 0xbfc0L;

  /** r2 to r6. */
  private static final long PASSED = 0x7cL;

  /** r11 and r15. */
  private static final long FRAMES = 0x8800L;

  /** Opcodes of two bytes that write their first register and do not read it. */
  private static final IntSet WRITES_2 = IntSet.of(0x10, 0x11, 0x12, 0x13, 0x18);

  /** Opcodes of four bytes with an index: {@code la}, {@code lh}, {@code l}. */
  private static final IntSet WRITES_4 = IntSet.of(0x41, 0x48, 0x58);

  /** Behind b9: {@code lgr}, {@code lgfr}, {@code llgcr}, sums of two others, ... */
  private static final IntSet WRITES_B9 =
      IntSet.of(
          0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x26,
          0x27, 0x83, 0x84, 0x85, 0x94, 0x95, 0xe4, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xeb, 0xf4, 0xf6,
          0xf7, 0xf8, 0xf9, 0xfa, 0xfb);

  /** Behind e3: loads. */
  private static final IntSet WRITES_E3 =
      IntSet.of(
          0x02, 0x04, 0x12, 0x14, 0x15, 0x16, 0x17, 0x32, 0x58, 0x71, 0x76, 0x77, 0x78, 0x90, 0x91,
          0x94, 0x95);

  /** Behind eb: shifts to another register, loads that are atomic. */
  private static final IntSet WRITES_EB =
      IntSet.of(
          0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0xdc, 0xdd, 0xde, 0xdf, 0xe2, 0xe4, 0xe6, 0xe7, 0xe8,
          0xea, 0xf2, 0xf4, 0xf6, 0xf7, 0xf8, 0xfa);

  /** Behind ec: {@code risbg}, {@code lochi}, {@code ahik}, {@code aghik}. */
  private static final IntSet WRITES_EC = IntSet.of(0x42, 0x46, 0x55, 0x59, 0xd8, 0xd9, 0xda, 0xdb);

  /** Which functions read the return address in r14. */
  static LinkReads reads() {
    return new LinkReads(S390x::length, new S390xLink(), LINK, KEPT, PASSED, FRAMES, true);
  }

  @Override
  public void step(long at, long code, LinkReads.Way way) {
    long word = CallForm.swap(code, 6); // the first byte highest
    int opcode = (int) (word >>> 40);
    int high = (int) (word >>> 36) & 15;
    int low = (int) (word >>> 32) & 15;
    switch (S390x.length(code)) {
      case 2 -> two(opcode, high, low, way);
      case 4 -> four(at, opcode, high, low, (int) (word >>> 16), way);
      default -> six(at, opcode, high, low, word, way);
    }
  }

  private static void two(int opcode, int high, int low, LinkReads.Way way) {
    if (opcode == 0x07) { // bcr
      if (high == 15 && low == LINK) {
        way.returns();
      } else if (high == 15) {
        way.reads(low);
        way.jumpsByRegister();
      }
    } else if (opcode == 0x0d && high == LINK && low != 0) { // basr
      way.calls();
    } else if (opcode >>> 4 < 2 && opcode != 0x0a) { // not svc, not floating point
      way.reads(low);
      first(high, WRITES_2.contains(opcode), opcode != 0x15 && opcode != 0x19, way);
    }
  }

  /** Notes the use of an instruction's first register. */
  private static void first(int register, boolean writesOnly, boolean writes, LinkReads.Way way) {
    if (!writesOnly) {
      way.reads(register);
    }
    if (writes) {
      way.writes(register);
    }
  }

  private static void four(long at, int opcode, int high, int low, int word, LinkReads.Way way) {
    int third = word >>> 12 & 15;
    switch (opcode >>> 4) {
      case 0xa -> immediate(at, opcode << 4 | low, high, (short) word, way);
      case 0xb -> registers(opcode << 8 | high << 4 | low, third, word >>> 4 & 15, word & 15, way);
      case 0x4, 0x5 -> {
        way.readsBase(low);
        way.readsBase(third);
        switch (opcode) {
          case 0x40, 0x42, 0x55, 0x59 -> way.reads(high);
          case 0x50 -> way.stores(high, third);
          case 0x44, 0x47 -> {} // ex, bc
          case 0x4d -> way.calls(); // bas
          default -> first(high, WRITES_4.contains(opcode), true, way);
        }
      }
      case 0x8 -> {
        way.readsBase(third);
        first(high, false, true, way);
      }
      default -> way.readsBase(third); // of memory only, floating point
    }
  }

  private static void immediate(
      long at, int opcode, int register, short number, LinkReads.Way way) {
    switch (opcode) {
      case 0xa74 -> branch(register, at + 2L * number, way);
      case 0xa75 -> way.calls(); // bras
      case 0xa76, 0xa77 -> { // brct
        way.reads(register);
        way.branches(at + 2L * number);
      }
      default -> {
        boolean loads = opcode == 0xa78 || opcode == 0xa79 || (opcode & 0xffc) == 0xa5c;
        boolean tests = (opcode & 0xffc) == 0xa70 || opcode == 0xa7e || opcode == 0xa7f;
        first(register, loads, !tests, way);
      }
    }
  }

  private static void branch(int mask, long target, LinkReads.Way way) {
    if (mask == 15) {
      way.jumps(target);
    } else if (mask != 0) {
      way.branches(target);
    }
  }

  /** Without immediate numbers. */
  private static void registers(int opcode, int third, int first, int second, LinkReads.Way way) {
    int operation = opcode & 0xff;
    if (opcode >>> 8 == 0xb9) {
      boolean ofThree = (operation & 0xf0) == 0xf0 || (operation & 0xf0) == 0xe0;
      boolean compares = (operation & 0xee) == 0x20; // also 30
      way.reads(second);
      if (ofThree) {
        way.reads(third);
      }
      first(first, WRITES_B9.contains(operation), !compares, way);
    } else if (opcode == 0xb222 || opcode == 0xb24f || opcode == 0xb3cd) { // ipm, ear, lgdr
      way.writes(first);
    } else if (opcode == 0xb252) { // msr
      way.reads(first);
      way.reads(second);
      way.writes(first);
    } else if ((opcode & 0xffe0) == 0xb3a0 || (opcode & 0xfff0) == 0xb390) { // cdgbr, cgdbr
      if ((operation & 8) != 0) {
        way.writes(first);
      } else {
        way.reads(second);
      }
    }
  }

  private static void six(long at, int opcode, int high, int low, long word, LinkReads.Way way) {
    int third = (int) (word >>> 28) & 15;
    int operation = (int) word & 0xff;
    int number = (int) word;
    switch (opcode) {
      case 0xc0 -> {
        switch (low) {
          case 4 -> branch(high, at + 2L * number, way);
          case 5 -> {
            if (high == LINK) {
              way.calls();
            }
          }
          default -> first(high, low < 2 || low == 9 || low > 13, true, way);
        }
      }
      case 0xc2 -> first(high, false, low < 12, way);
      case 0xc4 -> {
        boolean stores = low == 7 || low == 11 || low == 15;
        first(high, !stores, !stores, way);
      }
      case 0xc6 -> first(high, false, false, way);
      case 0xe3 -> {
        if (word != COUNTED) {
          indexed(operation, high, low, third, way);
        }
      }
      case 0xeb -> range(operation, high, low, third, way);
      case 0xe7 -> {} // vectors
      case 0xec -> joined(at, operation, high, low, (short) (word >>> 16), way);
      case 0xd2, 0xd5, 0xd7, 0xd4, 0xd6 -> { // of memory
        way.readsBase(third);
        way.readsBase((int) (word >>> 12) & 15);
      }
      default -> way.readsBase(third);
    }
  }

  private static void indexed(int operation, int first, int index, int base, LinkReads.Way way) {
    way.readsBase(index);
    way.readsBase(base);
    switch (operation) {
      case 0x24, 0x50 -> way.stores(first, base);
      case 0x20, 0x21, 0x30, 0x31, 0x34, 0x55, 0x59, 0x70, 0x72, 0x79 -> way.reads(first);
      case 0x36 -> {} // pfd
      default -> first(first, WRITES_E3.contains(operation), true, way);
    }
  }

  /** {@code stmg}, {@code lmg}, shifts; and what has no register but the base. */
  private static void range(int operation, int first, int last, int base, LinkReads.Way way) {
    boolean hasLink = first <= LINK && (last >= LINK || last < first);
    way.readsBase(base);
    switch (operation) {
      case 0x24, 0x90 -> {
        if (hasLink) {
          way.stores(LINK, base);
        }
      }
      case 0x04, 0x98 -> {
        if (hasLink) {
          way.writes(LINK);
        }
      }
      case 0x51, 0x52, 0x54, 0x55, 0x56, 0x57, 0x6a, 0x6e, 0x7a, 0x7e -> {}
      case 0xe3, 0xf3 -> way.reads(first);
      default -> {
        boolean loadsIf = operation == 0xe2 || operation == 0xf2;
        if (!loadsIf) {
          way.reads(last);
        }
        first(first, WRITES_EB.contains(operation), true, way);
      }
    }
  }

  /** Compares and branches, rotates and inserts, adds a number. */
  private static void joined(
      long at, int operation, int first, int second, short distance, LinkReads.Way way) {
    boolean ofTwo =
        operation == 0x64 || operation == 0x65 || operation == 0x76 || operation == 0x77;
    boolean ofNumber = operation >= 0x7c && operation <= 0x7f;
    if (ofTwo || ofNumber) {
      way.reads(first);
      if (ofTwo) {
        way.reads(second);
      }
      way.branches(at + 2L * distance);
    } else {
      boolean hasSecond = operation != 0x42 && operation != 0x46;
      if (hasSecond) {
        way.reads(second);
      }
      boolean tests = operation >= 0x70 && operation < 0x74;
      first(first, WRITES_EC.contains(operation), !tests, way);
    }
  }
}
