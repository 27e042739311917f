package dev.retstack.machine.loader.elf;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lays a relocatable object out as a linker would, so that it can be read like a program. It gives
 * sections addresses and segments, moves symbols and relocations there, and fills in the tables
 * that list code. It does not change code: calls do not go anywhere yet.
 */
final class ObjectLayout {
  /** Address of the first section. */
  private static final long BASE = 0x1000_0000;

  /** A section's bytes are aligned to more in a program, but no address here depends on that. */
  private static final long ALIGN_MAX = 1 << 16;

  /** Tables of addresses: of call sites, and of functions (ppc64 ELFv1). */
  private static final Set<String> TABLES =
      Set.of("__mcount_loc", "__patchable_function_entries", ".opd");

  private final ElfBytes file;
  private final ElfHeader header;
  private final List<Section> sections;
  private final long[] addresses;
  private final ByteBuffer out;
  private final int headers;

  private ObjectLayout(ElfBytes file, ElfHeader header, List<Section> sections, byte[] content)
      throws ElfFormatException {
    this.file = file;
    this.header = header;
    this.sections = sections;
    addresses = new long[sections.size()];
    int loaded = place();
    headers = (content.length + Long.BYTES - 1) & -Long.BYTES;
    long size = headers + (long) loaded * header.programHeaderBytes();
    if (size > Integer.MAX_VALUE) {
      throw file.refuse(
          "the file size", content.length + " bytes", "at most 2 GiB with its headers", "split it");
    }
    out = ByteBuffer.wrap(Arrays.copyOf(content, (int) size)).order(file.order());
    writeHeader(loaded);
  }

  /**
   * A program with the sections of an object.
   *
   * @param content of the object; left as it is
   * @throws ElfFormatException where the object is cut off or lies about its tables
   */
  static byte[] layOut(byte[] content, String name) throws ElfFormatException {
    ElfBytes file = ElfHeader.open(content, name);
    ElfHeader header = ElfHeader.parseObject(file);
    List<Section> sections = SectionTable.parse(file, header, 0).sections();
    RelocationTable.requireRoom(file, sections);
    ObjectLayout layout = new ObjectLayout(file, header, sections, content);
    Optional<Section> symbols =
        sections.stream().filter(s -> s.type() == Elf.SHT_SYMTAB).findFirst();
    if (symbols.isPresent()) {
      layout.moveSymbols(symbols.get());
    }
    for (Section section : sections) {
      if (section.holdsRelocations()) {
        layout.moveRelocations(section);
      }
    }
    return layout.out.array();
  }

  /** Gives addresses; returns how many sections are loaded. */
  private int place() throws ElfFormatException {
    long free = BASE;
    int loaded = 0;
    for (int i = 0; i < addresses.length; i++) {
      Section section = sections.get(i);
      if (section.allocated() && section.size() != 0) {
        long align = section.align();
        if (align < 0 || Long.bitCount(align) > 1) {
          throw file.damaged(
              "sh_addralign of " + section.name(), Long.toUnsignedString(align), "a power of two");
        }
        long most = ElfFile.Limits.DEFAULT.memoryBytesMax();
        if (section.size() < 0 || section.size() > most || free - BASE > most) {
          throw file.refuse(
              "sh_size of " + section.name(),
              Long.toUnsignedString(section.size()),
              "at most " + most + " bytes in all sections",
              "make it smaller");
        }
        long unit = Math.clamp(align, Long.BYTES, ALIGN_MAX);
        addresses[i] = (free + unit - 1) & -unit;
        free = addresses[i] + section.size();
        loaded++;
      }
    }
    if (loaded >= Elf.PN_XNUM) {
      throw file.refuse(
          "e_shnum", loaded + " loaded sections", "at most 65534", "split the object");
    }
    return loaded;
  }

  private void writeHeader(int loaded) throws ElfFormatException {
    int word = file.wordBytes();
    int at = 24 + 3 * word;
    int code = 0;
    while (code < addresses.length && !(sections.get(code).executable() && addresses[code] != 0)) {
      code++;
    }
    if (code == addresses.length) {
      throw file.refuse(
          "the number of sections with code",
          "0",
          "at least one",
          "give an object that was compiled from functions");
    }
    out.putShort(16, (short) Elf.ET_EXEC);
    putWord(24, addresses[code]);
    putWord(24 + word, headers);
    out.putShort(at + 6, (short) header.programHeaderBytes());
    out.putShort(at + 8, (short) loaded);
    int next = headers;
    for (int i = 0; i < addresses.length; i++) {
      if (addresses[i] != 0) {
        putWord(
            (int) header.sectionHeaderOffset() + i * header.sectionHeaderBytes() + 8 + word,
            addresses[i]);
        writeSegment(next, sections.get(i), addresses[i]);
        next += header.programHeaderBytes();
      }
    }
  }

  private void writeSegment(int at, Section section, long address) {
    int word = file.wordBytes();
    int flags = Elf.PF_R | (section.executable() ? Elf.PF_X : 0);
    int first = header.is64() ? at + 8 : at + 4;
    out.putInt(at, Elf.PT_LOAD);
    out.putInt(header.is64() ? at + 4 : at + 24, flags);
    putWord(first, section.type() == Elf.SHT_NOBITS ? 0 : section.offset());
    putWord(first + word, address);
    putWord(first + 2 * word, address);
    putWord(first + 3 * word, section.type() == Elf.SHT_NOBITS ? 0 : section.size());
    putWord(first + 4 * word, section.size());
  }

  private int symbolBytes() {
    return header.is64() ? 24 : 16;
  }

  private void moveSymbols(Section table) throws ElfFormatException {
    for (long i = 0; i < table.size() / symbolBytes(); i++) {
      int at = (int) (table.offset() + i * symbolBytes());
      int section = file.u16(at + (header.is64() ? 6 : 14), "st_shndx");
      if (section < Elf.SHN_LORESERVE && section >= addresses.length) {
        throw file.damaged(
            "st_shndx of symbol " + i, Integer.toString(section), "below " + addresses.length);
      }
      if (section < addresses.length && addresses[section] != 0) {
        int value = at + (header.is64() ? 8 : 4);
        putWord(value, file.word(value, "st_value") + addresses[section]);
      }
    }
  }

  private void moveRelocations(Section relocations) throws ElfFormatException {
    int to = relocations.info();
    if (to < 0 || to >= addresses.length) {
      throw file.damaged(
          "sh_info of " + relocations.name(),
          Integer.toUnsignedString(to),
          "below " + addresses.length);
    }
    if (addresses[to] == 0) {
      return;
    }
    Section table = sections.get(to);
    boolean listed = TABLES.contains(table.name());
    RelocationTable.each(
        file,
        relocations,
        entry -> {
          putWord((int) entry.at(), entry.offset() + addresses[to]);
          if (listed) {
            fillIn(entry, table, relocations);
          }
        });
  }

  private void fillIn(RelocationTable.Entry entry, Section table, Section relocations)
      throws ElfFormatException {
    int word = file.wordBytes();
    if (entry.offset() < 0 || entry.offset() > table.size() - word) {
      throw file.damaged(
          "r_offset of " + relocations.name(),
          "0x%x".formatted(entry.offset()),
          "inside the %d bytes of %s".formatted(table.size(), table.name()));
    }
    file.requireRange(table.offset(), table.size(), "sh_offset of " + table.name());
    int place = (int) (table.offset() + entry.offset());
    long addend = entry.addend().orElse(getWord(place));
    putWord(place, symbol(entry, relocations) + addend);
  }

  /** The address of the symbol of a relocation, as moved. */
  private long symbol(RelocationTable.Entry entry, Section relocations) throws ElfFormatException {
    if (entry.symbol() == 0) {
      return 0;
    }
    int link = relocations.link();
    Section symbols = link < 0 || link >= sections.size() ? null : sections.get(link);
    if (symbols == null || symbols.type() != Elf.SHT_SYMTAB) {
      throw file.damaged(
          "sh_link of " + relocations.name(),
          Integer.toUnsignedString(link),
          "a symbol table (type 2)");
    }
    if (entry.symbol() >= symbols.size() / symbolBytes()) {
      throw file.damaged(
          "r_info of " + relocations.name(),
          "symbol " + entry.symbol(),
          "below " + symbols.size() / symbolBytes() + ", the symbol count");
    }
    long at = symbols.offset() + entry.symbol() * symbolBytes();
    return getWord((int) at + (header.is64() ? 8 : 4));
  }

  private long getWord(int at) {
    return header.is64() ? out.getLong(at) : out.getInt(at) & 0xFFFF_FFFFL;
  }

  private void putWord(int at, long value) {
    if (header.is64()) {
      out.putLong(at, value);
    } else {
      out.putInt(at, (int) value);
    }
  }
}
