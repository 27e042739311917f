package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds in {@code .debug_info} where functions are declared (DWARF 5, sections 2.14 and 3.3). The
 * first row at the address of a function may be of a function that was inlined there.
 *
 * <pre>
 *   function  low_pc 0x10, abstract_origin ─► function  line 7, specification ─► in its class
 *   ranges: 0x10 f, 0x80 f.cold                         (the definition)         file 2, line 3
 * </pre>
 *
 * The entries of a unit are read in the order of the file: where one stands does not matter. A
 * linker leaves those of functions that it dropped, at address 0, and folds functions of the same
 * code: of several at one address the one counts that bears the name of the symbol there.
 */
final class DeclarationReader {
  static final String SECTION = ".debug_info";

  /** What it costs that a file cannot be read. */
  private static final String COST = "its functions have the lines of their first instructions: ";

  /** Attributes (DW_AT_*). */
  private static final int NAME = 0x03;

  private static final int STMT_LIST = 0x10;
  private static final int HIGH_PC = 0x12;
  private static final int ABSTRACT_ORIGIN = 0x31;
  private static final int DECL_FILE = 0x3a;
  private static final int DECL_LINE = 0x3b;
  private static final int SPECIFICATION = 0x47;
  private static final int LINKAGE_NAME = 0x6e;
  private static final int STR_OFFSETS_BASE = 0x72;
  private static final int ADDR_BASE = 0x73;
  private static final int RNGLISTS_BASE = 0x74;
  private static final int MIPS_LINKAGE_NAME = 0x2007;

  /** Entries from a function to where it is declared at most: compilers need three. */
  private static final int CHAIN_MAX = 8;

  /** How often the bytes of a section are read, on average. */
  private static final int TIMES_MAX = 8;

  private static final int BYTES_ALWAYS = 1 << 20;

  /** A table of abbreviations, by its offset and the sizes of the unit. */
  private record TableKey(long offset, int version, int addressBytes, int offsetBytes) {}

  /** What the first entry of a unit says of the others. */
  private record Bases(LineHeader lines, long low, long addresses, long ranges, long texts) {}

  private final ElfFile elf;
  private final LineReader rows;
  private final long[] entries;
  private final long mask;
  private final int[] fileOf;
  private final int[] lineOf;

  /** The entry of {@code .debug_info} that describes a function, 0 where none does. */
  private final int[] describedBy;

  private final Map<String, byte[]> sections = new HashMap<>();
  private final Map<TableKey, Abbreviation.Table> tables = new HashMap<>();
  private final List<InfoUnit> units = new ArrayList<>();
  private Bases[] bases = {};
  private final DwarfBytes in;

  /** Reads entries that others refer to. */
  private final DwarfBytes aside;

  private final Entry entry = new Entry();
  private final Entry other = new Entry();

  /** What may still be read more than once, so that no file makes this take long. */
  private long attributesLeft;

  private long tableBytesLeft;
  private long rangeBytesLeft;

  /**
   * @param rows whose units name the files
   * @param entries addresses of functions, sorted as unsigned numbers, without doubles
   */
  DeclarationReader(ElfFile elf, LineReader rows, long[] entries) throws ElfFormatException {
    this.elf = elf;
    this.rows = rows;
    this.entries = entries;
    this.mask = elf.is64() ? -1 : 0xFFFF_FFFFL;
    this.fileOf = new int[entries.length];
    this.lineOf = new int[entries.length];
    this.describedBy = new int[entries.length];
    this.in = reader(SECTION);
    this.aside = reader(SECTION);
    this.attributesLeft = budget(SECTION);
  }

  private byte[] section(String name) throws ElfFormatException {
    byte[] known = sections.get(name);
    if (known == null) {
      known = DebugSection.read(elf, name, COST);
      sections.put(name, known);
    }
    return known;
  }

  private DwarfBytes reader(String name) throws ElfFormatException {
    return new DwarfBytes(
        section(name), elf.bigEndian(), elf.name(), name, COST + "build it again");
  }

  private long budget(String name) throws ElfFormatException {
    return BYTES_ALWAYS + (long) TIMES_MAX * section(name).length;
  }

  /** Reads all units. */
  void read() throws ElfFormatException {
    while (in.more()) {
      if (units.size() == InfoUnit.UNITS_MAX) {
        throw in.refuse("the count of units", "larger", "at most " + InfoUnit.UNITS_MAX);
      }
      units.add(InfoUnit.read(in));
    }
    bases = new Bases[units.size()];
    tableBytesLeft = units.isEmpty() ? 0 : budget(".debug_abbrev");
    for (InfoUnit unit : units) {
      readFunctions(unit);
    }
  }

  /** Puts what was found in place of what others found. */
  void replace(int[] files, int[] lines) {
    for (int i = 0; i < lineOf.length; i++) {
      if (lineOf[i] > 0) {
        files[i] = fileOf[i];
        lines[i] = lineOf[i];
      }
    }
  }

  private void readFunctions(InfoUnit unit) throws ElfFormatException {
    if (unit.entries() == unit.end()) {
      return;
    }
    Abbreviation.Table table = table(unit);
    in.seek(unit.entries(), unit.end());
    while (in.more()) {
      int at = in.at();
      long code = in.unsigned();
      if (code != 0) { // 0 ends the entries inside another
        Abbreviation abbreviation = known(table, code, in);
        if (abbreviation.function()) {
          entry.read(in, unit, abbreviation);
          describe(at, unit);
        } else {
          abbreviation.pass(in, unit);
        }
      }
    }
  }

  private static Abbreviation known(Abbreviation.Table table, long code, DwarfBytes in)
      throws ElfFormatException {
    Abbreviation abbreviation = table.get(code);
    if (abbreviation == null) {
      throw in.refuse(
          "the abbreviation of an entry", Long.toUnsignedString(code), "one of .debug_abbrev");
    }
    return abbreviation;
  }

  private Abbreviation.Table table(InfoUnit unit) throws ElfFormatException {
    TableKey key =
        new TableKey(unit.abbreviations(), unit.version(), unit.addressBytes(), unit.offsetBytes());
    Abbreviation.Table known = tables.get(key);
    if (known == null) {
      DwarfBytes bytes = at(reader(".debug_abbrev"), key.offset());
      int start = bytes.at();
      known = Abbreviation.table(bytes, unit);
      tables.put(key, known);
      tableBytesLeft -= bytes.at() - start;
      if (tableBytesLeft < 0) {
        throw bytes.refuse("tables of abbreviations", "overlap", "tables that do not");
      }
    }
    return known;
  }

  /** A reader at an offset of its section, and up to its end. */
  private static DwarfBytes at(DwarfBytes bytes, long offset) throws ElfFormatException {
    bytes.seek(0, bytes.length());
    bytes.skip(offset, "an offset");
    return bytes;
  }

  private Bases basesOf(InfoUnit unit) throws ElfFormatException {
    int index = indexOf(unit.start());
    if (bases[index] == null) {
      bases[index] = readBases(unit);
    }
    return bases[index];
  }

  private Bases readBases(InfoUnit unit) throws ElfFormatException {
    long low = 0;
    int lowForm = Form.ADDRESS;
    long lines = -1;
    long addresses = 0;
    long ranges = 0;
    long texts = 0;
    aside.seek(unit.entries(), unit.end());
    Abbreviation first = known(table(unit), aside.unsigned(), aside);
    for (int i = 0; i < first.count(); i++) {
      long value = value(aside, first, i, unit);
      switch (first.attribute(i)) {
        case Abbreviation.LOW_PC -> {
          low = value;
          lowForm = first.form(i);
        }
        case STMT_LIST -> lines = value;
        case ADDR_BASE -> addresses = value;
        case RNGLISTS_BASE -> ranges = value;
        case STR_OFFSETS_BASE -> texts = value;
        default -> {} // not asked for
      }
    }
    boolean known = lines >= 0 && lines <= Integer.MAX_VALUE;
    LineHeader header = known ? rows.header((int) lines) : null;
    return new Bases(header, address(low, lowForm, unit, addresses), addresses, ranges, texts);
  }

  private static long value(DwarfBytes in, Abbreviation of, int i, InfoUnit unit)
      throws ElfFormatException {
    int form = of.form(i);
    return form == Form.IMPLICIT_CONST ? of.constant(i) : Form.read(in, form, unit);
  }

  private long address(long value, int form, InfoUnit unit, long base) throws ElfFormatException {
    return Form.isAddressIndex(form)
        ? word(".debug_addr", base, value, unit.addressBytes())
        : value;
  }

  /** A word of a table that begins at an offset of its section. */
  private long word(String name, long base, long index, int bytes) throws ElfFormatException {
    DwarfBytes table = at(reader(name), base);
    if (index < 0 || index > table.left() / bytes) {
      throw table.refuse(
          "an index", Long.toUnsignedString(index), "at most %d".formatted(table.left() / bytes));
    }
    table.skip(index * bytes, "an index");
    return table.number(bytes);
  }

  private int indexOf(long place) {
    int low = 0;
    int high = units.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (units.get(middle).start() <= place) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return high;
  }

  /** The function that was read has code in one piece, or in several. */
  private void describe(int at, InfoUnit unit) throws ElfFormatException {
    if (entry.rangesForm != 0) {
      describeRanges(at, unit, entry.ranges, entry.rangesForm);
    } else if (entry.lowForm != 0 && entry.highForm != 0) {
      long base = Form.isAddressIndex(entry.lowForm) ? basesOf(unit).addresses() : 0;
      long low = address(entry.low, entry.lowForm, unit, base);
      boolean isAddress = entry.highForm == Form.ADDRESS || Form.isAddressIndex(entry.highForm);
      long high = isAddress ? address(entry.high, entry.highForm, unit, base) - low : entry.high;
      describe(at, unit, low, high);
    }
  }

  private void describeRanges(int at, InfoUnit unit, long value, int form)
      throws ElfFormatException {
    Bases of = basesOf(unit);
    boolean old = unit.version() < 5;
    String name = old ? ".debug_ranges" : ".debug_rnglists";
    if (rangeBytesLeft == 0) {
      rangeBytesLeft = budget(name);
    }
    long offset =
        form == Form.RNGLISTX
            ? of.ranges() + word(name, of.ranges(), value, unit.offsetBytes())
            : value;
    RangeList list = new RangeList(at(reader(name), offset), unit.addressBytes(), of.low(), old);
    int start = list.at();
    while (list.next(index -> word(".debug_addr", of.addresses(), index, unit.addressBytes()))) {
      describe(at, unit, list.low(), list.bytes());
    }
    rangeBytesLeft -= list.at() - start;
    if (rangeBytesLeft <= 0) {
      throw in.refuse("the ranges of functions", "overlap", "ranges that do not");
    }
  }

  private void describe(int at, InfoUnit unit, long low, long bytes) throws ElfFormatException {
    long begin = (low + elf.bias()) & mask;
    int function = LineReader.firstFrom(entries, begin); // nops may stand in front of it
    if (function == entries.length || Long.compareUnsigned(entries[function] - begin, bytes) >= 0) {
      return;
    }
    int known = describedBy[function];
    boolean dropped = Long.compareUnsigned(low & mask, 1) <= 0;
    boolean sure = known == 0 && !dropped;
    if (sure
        || (known != at
            && bearsName(at, unit, function)
            && (known == 0 || !bearsName(known, units.get(indexOf(known)), function)))) {
      describedBy[function] = at;
      take(at, unit, function);
    }
  }

  /** Line and file stand in the entry, or in one that it refers to, each by itself. */
  private void take(int at, InfoUnit unit, int function) throws ElfFormatException {
    long line = 0;
    int file = -1;
    int place = at;
    InfoUnit of = unit;
    for (int left = CHAIN_MAX; left > 0 && of != null; left--) {
      other.readAt(place, of);
      line = line > 0 ? line : other.line;
      if (file < 0 && other.file >= 0 && basesOf(of).lines() != null) {
        file = rows.names().number(basesOf(of).lines(), other.file, in);
      }
      if (line > 0 && file >= 0) {
        break;
      }
      place = other.reference;
      of = unitAt(place);
    }
    boolean known = line > 0 && line <= Integer.MAX_VALUE && file >= 0;
    lineOf[function] = known ? (int) line : 0;
    fileOf[function] = known ? file : 0;
  }

  /** The unit that holds an entry; null where none does. */
  private InfoUnit unitAt(int place) {
    int index = place < 0 ? -1 : indexOf(place);
    InfoUnit unit = index < 0 ? null : units.get(index);
    return unit != null && place >= unit.entries() && place < unit.end() ? unit : null;
  }

  private boolean bearsName(int at, InfoUnit unit, int function) throws ElfFormatException {
    byte[] symbol = elf.functions().get(function).name().getBytes(StandardCharsets.UTF_8);
    int place = at;
    InfoUnit of = unit;
    for (int left = CHAIN_MAX; left > 0 && of != null; left--) {
      other.readAt(place, of);
      if (isName(other.linkageName, other.linkageForm, symbol, of)
          || isName(other.name, other.nameForm, symbol, of)) {
        return true;
      }
      place = other.reference;
      of = unitAt(place);
    }
    return false;
  }

  private boolean isName(long name, int form, byte[] symbol, InfoUnit unit)
      throws ElfFormatException {
    if (Form.isTextIndex(form)) {
      long offset = word(".debug_str_offsets", basesOf(unit).texts(), name, unit.offsetBytes());
      return isText(".debug_str", offset, symbol);
    }
    return switch (form) {
      case Form.STRING -> isText(SECTION, name, symbol);
      case Form.STRP -> isText(".debug_str", name, symbol);
      case Form.LINE_STRP -> isText(".debug_line_str", name, symbol);
      default -> false;
    };
  }

  /** True for the name of a symbol, which may have the suffix of a part or a copy. */
  private boolean isText(String name, long offset, byte[] symbol) throws ElfFormatException {
    byte[] bytes = section(name);
    if (offset < 0 || offset >= bytes.length) {
      return false;
    }
    int at = (int) offset;
    int same = 0;
    while (at + same < bytes.length && same < symbol.length && bytes[at + same] == symbol[same]) {
      same++;
    }
    boolean ended = at + same < bytes.length && bytes[at + same] == 0;
    return ended && same > 0 && (same == symbol.length || symbol[same] == '.');
  }

  /** What is asked of an entry. */
  private final class Entry {
    long low;
    int lowForm;
    long high;
    int highForm;
    long ranges;
    int rangesForm;
    long file;
    long line;
    int reference;
    long name;
    int nameForm;
    long linkageName;
    int linkageForm;

    void readAt(int at, InfoUnit unit) throws ElfFormatException {
      aside.seek(at, unit.end());
      long code = aside.unsigned();
      read(aside, unit, known(table(unit), code, aside));
    }

    void read(DwarfBytes bytes, InfoUnit unit, Abbreviation abbreviation)
        throws ElfFormatException {
      lowForm = highForm = rangesForm = nameForm = linkageForm = 0;
      file = reference = -1;
      line = 0;
      attributesLeft -= abbreviation.count();
      if (attributesLeft < 0) {
        throw bytes.refuse(
            "the attributes of functions", "larger", "at most %d a byte".formatted(TIMES_MAX));
      }
      for (int i = 0; i < abbreviation.count(); i++) {
        int form = abbreviation.form(i);
        long value = value(bytes, abbreviation, i, unit);
        switch (abbreviation.attribute(i)) {
          case Abbreviation.LOW_PC -> {
            low = value;
            lowForm = form;
          }
          case HIGH_PC -> {
            high = value;
            highForm = form;
          }
          case Abbreviation.RANGES -> {
            ranges = value;
            rangesForm = form;
          }
          case DECL_FILE -> file = value;
          case DECL_LINE -> line = value;
          case SPECIFICATION, ABSTRACT_ORIGIN -> refer(value, form, unit);
          case NAME -> {
            name = value;
            nameForm = form;
          }
          case LINKAGE_NAME, MIPS_LINKAGE_NAME -> {
            linkageName = value;
            linkageForm = form;
          }
          default -> {} // not asked for
        }
      }
    }

    private void refer(long value, int form, InfoUnit unit) {
      long place = Form.isOfUnit(form) ? unit.start() + value : value;
      boolean here = Form.isOfUnit(form) || form == Form.REF_ADDR; // others are in other files
      reference = here && place >= 0 && place <= Integer.MAX_VALUE ? (int) place : -1;
    }
  }
}
