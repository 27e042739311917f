package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Segment;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Runs the programs of {@code .debug_line} (DWARF 5, section 6.2.5) and keeps the rows in which
 * functions begin.
 *
 * <pre>
 *   rows of a sequence     0x10 a.c:3    0x10 a.c:4    0x18 a.c:5    0x30 end
 *   entries of functions   0x10: a.c:3   0x14: a.c:5   0x20: a.c:5   0x30: none
 * </pre>
 *
 * A linker leaves the rows of functions that it dropped, at address 0. So a sequence counts if code
 * stands where it begins, and of those that begin at 0 none does if there are several.
 */
final class LineReader {
  static final String SECTION = ".debug_line";

  /** How often sequences may lie over one function, on average. */
  private static final int OVERLAPS_MAX = 8;

  private static final int OVERLAPS_ALWAYS = 1 << 16;

  /** Standard opcodes (DW_LNS_*). */
  private static final int EXTENDED = 0;

  private static final int COPY = 1;
  private static final int ADVANCE_PC = 2;
  private static final int ADVANCE_LINE = 3;
  private static final int SET_FILE = 4;
  private static final int CONST_ADD_PC = 8;
  private static final int FIXED_ADVANCE_PC = 9;

  /** Extended opcodes (DW_LNE_*). */
  private static final int END_SEQUENCE = 1;

  private static final int SET_ADDRESS = 2;
  private static final int DEFINE_FILE = 3;

  private final ElfFile elf;
  private final long mask;

  /** What may be executed, sorted by address, without overlaps. */
  private final List<Segment> code;

  private final DwarfBytes in;
  private final FileNames names;

  /** The headers of all units, by where they begin. */
  private final Int2ObjectMap<LineHeader> headers = new Int2ObjectOpenHashMap<>();

  private final long[] entries;
  private final int[] fileOf;
  private final int[] lineOf;
  private long given;

  /** Entries whose line is of a sequence that begins at 0. */
  private final BitSet fromZero = new BitSet();

  private int sequencesAtZero;

  /** Header of the unit that is read. */
  private LineHeader header;

  /** The row before, if there is one in the sequence, and the next entry behind it. */
  private boolean open;

  private boolean ofZero;
  private long rowAddress;
  private int rowFile;
  private int rowLine;
  private int next;

  /** The registers of the machine. */
  private long address;

  private int operation;
  private int file;
  private int line;

  /**
   * @param entries addresses of functions, sorted as unsigned numbers, without doubles
   */
  LineReader(ElfFile elf, long[] entries) throws ElfFormatException {
    this.elf = elf;
    this.entries = entries;
    this.mask = elf.is64() ? -1 : 0xFFFF_FFFFL;
    this.code = elf.segments().stream().filter(Segment::executable).toList();
    byte[] table = DebugSection.read(elf, SECTION, DebugSection.NO_LINES);
    this.in =
        new DwarfBytes(
            table, elf.bigEndian(), elf.name(), SECTION, DebugSection.NO_LINES + "build it again");
    this.names = new FileNames(elf, table);
    this.fileOf = new int[entries.length];
    this.lineOf = new int[entries.length];
  }

  FileNames names() {
    return names;
  }

  /** The header of the unit that begins at an offset; null where none does. */
  LineHeader header(int offset) {
    return headers.get(offset);
  }

  /** Number of each function's file. */
  int[] fileOf() {
    return fileOf;
  }

  /** Line of each function, 0 where it is unknown. */
  int[] lineOf() {
    return lineOf;
  }

  /** Reads all units. */
  void read() throws ElfFormatException {
    while (in.more()) {
      int start = in.at();
      header = LineHeader.read(in);
      if (header != null) {
        if (headers.size() < InfoUnit.UNITS_MAX) {
          headers.put(start, header);
        }
        begin();
        while (in.more()) {
          step();
        }
        in.nextUnit();
      }
    }
    if (sequencesAtZero > 1) {
      fromZero.stream().forEach(i -> lineOf[i] = 0);
    }
  }

  private void begin() {
    address = 0;
    operation = 0;
    file = 1;
    line = 1;
    open = false;
  }

  private void step() throws ElfFormatException {
    int opcode = in.u8();
    if (opcode >= header.opcodeBase) {
      int special = opcode - header.opcodeBase;
      advance(special / header.lineRange);
      line += header.lineBase + special % header.lineRange;
      row(false);
      return;
    }
    switch (opcode) {
      case EXTENDED -> extended();
      case COPY -> row(false);
      case ADVANCE_PC -> advance(in.unsigned());
      case ADVANCE_LINE -> line += (int) in.signed();
      case SET_FILE -> file = Math.clamp(in.unsigned(), -1, Integer.MAX_VALUE);
      case CONST_ADD_PC -> advance((255 - header.opcodeBase) / header.lineRange);
      case FIXED_ADVANCE_PC -> {
        address += in.u16();
        operation = 0;
      }
      default -> {
        for (int left = header.operands[opcode]; left > 0; left--) {
          in.unsigned();
        }
      }
    }
  }

  private void extended() throws ElfFormatException {
    long length = in.unsigned();
    if (length <= 0 || length > in.left()) {
      throw in.refuse(
          "the length of an extended opcode",
          Long.toUnsignedString(length),
          "1 to %d".formatted(in.left()));
    }
    int end = in.at() + (int) length;
    switch (in.u8()) {
      case END_SEQUENCE -> {
        row(true);
        begin();
      }
      case SET_ADDRESS -> {
        if (length - 1 > Long.BYTES) {
          throw in.refuse("the bytes of an address", Long.toString(length - 1), "at most 8");
        }
        address = in.number((int) length - 1) + elf.bias();
        operation = 0;
      }
      case DEFINE_FILE -> {
        header.addOldFile(in, in.text());
        if (header.fileCount() > header.numberOf.length) {
          header.numberOf = Arrays.copyOf(header.numberOf, 2 * header.fileCount());
        }
      }
      default -> {} // says nothing of places
    }
    if (in.at() > end) {
      throw in.refuse(
          "the length of an extended opcode", Long.toString(length), "that of what it holds");
    }
    in.skip(end - in.at(), "an extended opcode");
  }

  private void advance(long operations) {
    int most = header.operationsPerInstruction;
    if (most == 1) {
      address += header.minInstructionBytes * operations;
    } else {
      long all = operation + operations;
      address += header.minInstructionBytes * (all / most);
      operation = (int) (all % most);
    }
  }

  private void row(boolean end) throws ElfFormatException {
    long at = address & mask;
    if (!open || Long.compareUnsigned(at, rowAddress) < 0) {
      beginAt(at);
    }
    while (next < entries.length && Long.compareUnsigned(entries[next], at) < 0) {
      if (!end && beginsWithoutRow(next, at)) {
        take(at);
      }
      give(next++);
    }
    take(at);
    if (!end && line > 0 && next < entries.length && entries[next] == at) {
      give(next++);
    }
  }

  private void take(long at) {
    rowAddress = at;
    rowFile = file;
    rowLine = line;
  }

  /**
   * True where the first row of a function with a line is one behind its beginning: some compilers
   * count the nops of {@code -fpatchable-function-entry} to the function before, and what stands in
   * no source has line 0.
   */
  private boolean beginsWithoutRow(int entry, long at) {
    return (entries[entry] != rowAddress || rowLine == 0)
        && (entry + 1 == entries.length || Long.compareUnsigned(at, entries[entry + 1]) < 0);
  }

  private void beginAt(long at) {
    open = true;
    next = entries.length;
    if (isCode(at)) {
      ofZero = at == elf.bias();
      sequencesAtZero += ofZero ? 1 : 0;
      next = firstFrom(entries, at);
      rowAddress = at;
      if (next > 0
          && elf.functionAt(at).filter(f -> f.address() == entries[next - 1]).isPresent()) {
        next--; // it begins in front of all rows
      }
    }
  }

  private boolean isCode(long at) {
    int low = 0;
    int high = code.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(code.get(middle).address(), at) <= 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return high >= 0 && code.get(high).contains(at, 1);
  }

  /** Index of the first of some sorted addresses at one or behind it. */
  static int firstFrom(long[] entries, long at) {
    int low = 0;
    int high = entries.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(entries[middle], at) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** A function begins in the row before; what was said first of it stays. */
  private void give(int entry) throws ElfFormatException {
    if (++given > OVERLAPS_ALWAYS + (long) OVERLAPS_MAX * entries.length) {
      throw in.refuse(
          "the places of functions",
          "more than %d for each".formatted(OVERLAPS_MAX),
          "sequences that do not overlap");
    }
    if (rowLine > 0 && (lineOf[entry] == 0 || fromZero.get(entry))) {
      int number = names.number(header, rowFile, in);
      if (number >= 0) {
        fileOf[entry] = number;
        lineOf[entry] = rowLine;
        fromZero.set(entry, ofZero);
      }
    }
  }
}
