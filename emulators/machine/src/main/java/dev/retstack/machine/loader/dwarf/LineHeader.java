package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFormatException;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;

/**
 * The header of a unit of {@code .debug_line}: how its program is read, and which files it names
 * (DWARF 5, section 6.2.4; of versions 2 to 4 the section of the same name in theirs).
 */
final class LineHeader {
  /** Folders and files of a unit at most: a unit is one source with what it includes. */
  static final int NAMES_MAX = 1 << 16;

  /** Where a name stands. */
  static final int IN_LINE = 0;

  static final int IN_LINE_STR = 1;
  static final int IN_STR = 2;

  private static final int FIRST_VERSION = 2;
  private static final int LAST_VERSION = 5;
  private static final long ESCAPE_64 = 0xFFFF_FFFFL;

  /** Contents of an entry for a name (DW_LNCT_*). */
  private static final long PATH = 1;

  private static final long DIRECTORY = 2;

  /** Forms that an entry may have (DW_FORM_*). */
  private static final int BLOCK2 = 0x03;

  private static final int BLOCK4 = 0x04;
  private static final int DATA2 = 0x05;
  private static final int DATA4 = 0x06;
  private static final int DATA8 = 0x07;
  private static final int STRING = 0x08;
  private static final int BLOCK = 0x09;
  private static final int BLOCK1 = 0x0a;
  private static final int DATA1 = 0x0b;
  private static final int STRP = 0x0e;
  private static final int UDATA = 0x0f;
  private static final int DATA16 = 0x1e;
  private static final int LINE_STRP = 0x1f;

  int version;
  int minInstructionBytes;
  int operationsPerInstruction = 1;
  int lineBase;
  int lineRange;
  int opcodeBase;
  int[] operands;

  /** Names of folders and files: where they stand in the upper half, and the offset there. */
  private final LongArrayList folders = new LongArrayList();

  private final LongArrayList files = new LongArrayList();

  /** The folder of each file. */
  private final IntArrayList folderOf = new IntArrayList();

  /** What {@link FileNames} knows of a file: its number and 1. */
  int[] numberOf;

  private boolean is64;

  private LineHeader() {}

  /**
   * Reads the header of the unit that begins here; the reader stands at its program then, and ends
   * with the unit. Null for bytes that fill a gap.
   */
  static LineHeader read(DwarfBytes in) throws ElfFormatException {
    LineHeader h = new LineHeader();
    long length = in.u32();
    if (length == 0) {
      return null;
    }
    h.is64 = length == ESCAPE_64;
    in.limit(h.is64 ? in.number(Long.BYTES) : length, "unit_length");
    h.version = in.u16();
    if (h.version < FIRST_VERSION || h.version > LAST_VERSION) {
      throw in.refuse("version", Integer.toString(h.version), "2 to 5");
    }
    if (h.version == LAST_VERSION) {
      in.skip(2, "address_size"); // each address says how long it is
    }
    long headerLength = in.number(h.offsetBytes());
    if (headerLength < 0 || headerLength > in.left()) {
      throw in.refuse("header_length", Long.toUnsignedString(headerLength), "at most " + in.left());
    }
    int program = in.at() + (int) headerLength;
    h.readMachine(in);
    if (h.version == LAST_VERSION) {
      h.readNames(in, h.folders, null);
      h.readNames(in, h.files, h.folderOf);
    } else {
      h.readOldNames(in);
    }
    if (in.at() > program) {
      throw in.refuse("header_length", Long.toString(headerLength), "the end of the names");
    }
    in.skip(program - in.at(), "header_length");
    h.numberOf = new int[h.fileCount()];
    return h;
  }

  private int offsetBytes() {
    return is64 ? Long.BYTES : Integer.BYTES;
  }

  private void readMachine(DwarfBytes in) throws ElfFormatException {
    minInstructionBytes = in.u8();
    if (version > 3) {
      operationsPerInstruction = in.u8();
    }
    in.skip(1, "default_is_stmt");
    lineBase = (byte) in.u8();
    lineRange = in.u8();
    opcodeBase = in.u8();
    if (operationsPerInstruction == 0 || lineRange == 0 || opcodeBase == 0) {
      throw in.refuse("line_range, opcode_base or operations of an instruction", "0", "1 to 255");
    }
    operands = new int[opcodeBase];
    for (int opcode = 1; opcode < opcodeBase; opcode++) {
      operands[opcode] = in.u8();
    }
  }

  private void readOldNames(DwarfBytes in) throws ElfFormatException {
    folders.add(IN_LINE); // the folder of the compiler, which the table does not have
    for (int name = in.text(); in.at() - name > 1; name = in.text()) {
      add(in, folders, name);
    }
    files.add(IN_LINE); // files are counted from 1
    folderOf.add(-1);
    for (int name = in.text(); in.at() - name > 1; name = in.text()) {
      addOldFile(in, name);
    }
  }

  /** A file of version 2 to 4, whose name was read. */
  void addOldFile(DwarfBytes in, int name) throws ElfFormatException {
    add(in, files, name);
    folderOf.add(Math.clamp(in.unsigned(), -1, Integer.MAX_VALUE));
    in.unsigned(); // when it was changed
    in.unsigned(); // its size
  }

  private static void add(DwarfBytes in, LongArrayList names, long name) throws ElfFormatException {
    if (names.size() == NAMES_MAX) {
      throw in.refuse("the count of names of a unit", "larger", "at most " + NAMES_MAX);
    }
    names.add(name);
  }

  private void readNames(DwarfBytes in, LongArrayList names, IntArrayList inFolder)
      throws ElfFormatException {
    int count = in.u8();
    long[] contents = new long[count];
    long[] forms = new long[count];
    boolean named = false;
    for (int i = 0; i < count; i++) {
      contents[i] = in.unsigned();
      forms[i] = in.unsigned();
      if (contents[i] == PATH && !isName(forms[i])) {
        throw wrongForm(in, "path", forms[i], "string, line_strp or strp");
      }
      if (contents[i] == DIRECTORY && isName(forms[i])) {
        throw wrongForm(in, "folder", forms[i], "a number");
      }
      named |= contents[i] == PATH;
    }
    if (count > 0 && !named) {
      throw in.refuse("the path of a name", "none", "one in each entry");
    }
    long entries = in.unsigned();
    if (Long.compareUnsigned(entries, count == 0 ? 0 : NAMES_MAX) > 0) {
      throw in.refuse(
          "the count of names of a unit",
          Long.toUnsignedString(entries),
          "at most " + (count == 0 ? "0, since none has a form" : NAMES_MAX));
    }
    for (long left = entries; left > 0; left--) {
      long name = 0;
      long folder = 0;
      for (int i = 0; i < count; i++) {
        long value = value(in, forms[i]);
        name = contents[i] == PATH ? value : name;
        folder = contents[i] == DIRECTORY ? value : folder;
      }
      add(in, names, name);
      if (inFolder != null) {
        inFolder.add(Math.clamp(folder, -1, Integer.MAX_VALUE));
      }
    }
  }

  private static boolean isName(long form) {
    return form == STRING || form == LINE_STRP || form == STRP;
  }

  private static ElfFormatException wrongForm(DwarfBytes in, String of, long form, String allowed) {
    return in.refuse("the form of a " + of, "0x" + Long.toHexString(form), allowed);
  }

  /** A number, or a name as this class writes it; 0 for what is passed over. */
  private long value(DwarfBytes in, long form) throws ElfFormatException {
    return switch (Math.clamp(form, 0, Integer.MAX_VALUE)) {
      case STRING -> in.text();
      case LINE_STRP -> name(in, IN_LINE_STR);
      case STRP -> name(in, IN_STR);
      case UDATA -> in.unsigned();
      case DATA1 -> in.number(1);
      case DATA2 -> in.number(2);
      case DATA4 -> in.number(4);
      case DATA8 -> in.number(8);
      case DATA16 -> passed(in, 16);
      case BLOCK -> passed(in, in.unsigned());
      case BLOCK1 -> passed(in, in.number(1));
      case BLOCK2 -> passed(in, in.number(2));
      case BLOCK4 -> passed(in, in.number(4));
      default ->
          throw wrongForm(in, "name", form, "a string, line_strp, strp, udata, data or block");
    };
  }

  private static long passed(DwarfBytes in, long bytes) throws ElfFormatException {
    in.skip(bytes, "a form");
    return 0;
  }

  private long name(DwarfBytes in, long where) throws ElfFormatException {
    long offset = in.number(offsetBytes());
    if (offset < 0 || offset > Integer.MAX_VALUE) {
      throw in.refuse("the offset of a name", Long.toUnsignedString(offset), "inside its section");
    }
    return (where << Integer.SIZE) | offset;
  }

  /** Number of files, those that are not there included. */
  int fileCount() {
    return files.size();
  }

  /** Where the name of a file stands; of a version before 5 the first is none. */
  long file(int index) {
    return files.getLong(index);
  }

  /** The number of the folder of a file. */
  int folderOf(int index) {
    return folderOf.getInt(index);
  }

  /** Number of folders. */
  int folderCount() {
    return folders.size();
  }

  /** Where the name of a folder stands. */
  long folder(int index) {
    return folders.getLong(index);
  }

  /** True where the table has folder 0, that of the compiler. */
  boolean tellsFirstFolder() {
    return version == LAST_VERSION;
  }
}
