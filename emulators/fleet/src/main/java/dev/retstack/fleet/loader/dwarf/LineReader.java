package dev.retstack.fleet.loader.dwarf;

import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.loader.elf.ElfFormatException;
import dev.retstack.fleet.loader.elf.Segment;
import dev.retstack.schema.chunk.Chunks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

  /** Characters of the names of all files at most; a Linux kernel has some 200,000. */
  private static final int FILE_TEXT_MAX = 4 << 20;

  /** How often sequences may lie over one function, on average. */
  private static final int OVERLAPS_MAX = 8;

  private static final int OVERLAPS_ALWAYS = 1 << 16;

  /** Bytes of names that are looked at, since each unit names its files again. */
  private static final int TEXT_READ_MAX = 256 << 20;

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

  private final byte[] table;
  private final LineBytes in;

  /** The sections of names, read when one names a file. */
  private final byte[][] texts = new byte[3][];

  private final long[] entries;
  private final int[] fileOf;
  private final int[] lineOf;
  private final List<String> files = new ArrayList<>();
  private final Map<String, Integer> numbers = new HashMap<>();
  private int fileText;
  private int textRead;
  private long given;

  /** Entries whose line is of a sequence that begins at 0. */
  private final BitSet fromZero = new BitSet();

  private int sequencesAtZero;

  /** Of the unit that is read. */
  private LineHeader header;

  private int[] numberOf;

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
    this.table = DebugSection.read(elf, SECTION);
    this.in = new LineBytes(table, elf.bigEndian(), elf.name(), SECTION);
    this.fileOf = new int[entries.length];
    this.lineOf = new int[entries.length];
    this.texts[LineHeader.IN_LINE] = table;
  }

  List<String> files() {
    return files;
  }

  /** Of each function the number of its file. */
  int[] fileOf() {
    return fileOf;
  }

  /** Of each function its line, 0 where it is not known. */
  int[] lineOf() {
    return lineOf;
  }

  /** Reads all units. */
  void read() throws ElfFormatException {
    while (in.more()) {
      header = LineHeader.read(in);
      if (header != null) {
        numberOf = new int[header.fileCount()];
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
        if (header.fileCount() > numberOf.length) {
          numberOf = Arrays.copyOf(numberOf, 2 * header.fileCount());
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
    if (!end && next < entries.length && entries[next] == at) {
      give(next++);
    }
  }

  private void take(long at) {
    rowAddress = at;
    rowFile = file;
    rowLine = line;
  }

  /**
   * True where the first row of a function is one behind its beginning: some compilers count the
   * nops of {@code -fpatchable-function-entry} to the function before.
   */
  private boolean beginsWithoutRow(int entry, long at) {
    return entries[entry] != rowAddress
        && (entry + 1 == entries.length || Long.compareUnsigned(at, entries[entry + 1]) < 0);
  }

  private void beginAt(long at) {
    open = true;
    next = entries.length;
    if (isCode(at)) {
      ofZero = at == elf.bias();
      sequencesAtZero += ofZero ? 1 : 0;
      next = firstFrom(at);
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

  /** Index of the first entry at an address or behind it. */
  private int firstFrom(long at) {
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
      int number = number(rowFile);
      if (number >= 0) {
        fileOf[entry] = number;
        lineOf[entry] = rowLine;
        fromZero.set(entry, ofZero);
      }
    }
  }

  /** The number of a file of this unit in {@link #files}; negative where the unit has none such. */
  private int number(int inUnit) throws ElfFormatException {
    int first = header.tellsFirstFolder() ? 0 : 1;
    if (inUnit < first || inUnit >= header.fileCount()) {
      return -1;
    }
    if (numberOf[inUnit] == 0) {
      String path = path(inUnit);
      Integer known = numbers.get(path);
      if (known == null) {
        fileText += path.length();
        if (fileText > FILE_TEXT_MAX) {
          throw in.refuse("the length of all names of files", "larger", "at most " + FILE_TEXT_MAX);
        }
        known = files.size();
        files.add(path);
        numbers.put(path, known);
      }
      numberOf[inUnit] = known + 1;
    }
    return numberOf[inUnit] - 1;
  }

  private String path(int inUnit) throws ElfFormatException {
    String path = text(header.file(inUnit));
    int folder = header.folderOf(inUnit);
    if (folder >= 0 && folder < header.folderCount()) {
      path = within(folder > 0 || header.tellsFirstFolder() ? folderName(folder) : "", path);
    }
    if (header.tellsFirstFolder() && header.folderCount() > 0 && !isAbsolute(path)) {
      path = within(folderName(0), path);
    }
    if (path.length() > Chunks.FILE_MAX) {
      throw in.refuse(
          "the name of a file", path.length() + " characters", "at most " + Chunks.FILE_MAX);
    }
    return path;
  }

  private String folderName(int folder) throws ElfFormatException {
    return text(header.folder(folder));
  }

  private static String within(String folder, String path) {
    return folder.isEmpty() || isAbsolute(path) ? path : folder + "/" + path;
  }

  /** Of Unix or of Windows. */
  private static boolean isAbsolute(String path) {
    return path.startsWith("/")
        || path.startsWith("\\")
        || (path.length() > 1 && path.charAt(1) == ':');
  }

  private String text(long place) throws ElfFormatException {
    int where = (int) (place >>> Integer.SIZE);
    if (texts[where] == null) {
      texts[where] =
          DebugSection.read(elf, where == LineHeader.IN_STR ? ".debug_str" : ".debug_line_str");
    }
    byte[] bytes = texts[where];
    int start = (int) place;
    int end = start;
    while (end < bytes.length && bytes[end] != 0 && end - start <= Chunks.FILE_MAX) {
      end++;
    }
    if (end >= bytes.length || bytes[end] != 0) {
      throw in.refuse(
          "the name of a file",
          "at 0x%x without an end".formatted(start),
          "at most %d bytes and a zero".formatted(Chunks.FILE_MAX));
    }
    textRead += end - start;
    if (textRead > TEXT_READ_MAX) {
      throw in.refuse("the length of all names of files", "larger", "at most " + TEXT_READ_MAX);
    }
    return new String(bytes, start, end - start, StandardCharsets.UTF_8);
  }
}
