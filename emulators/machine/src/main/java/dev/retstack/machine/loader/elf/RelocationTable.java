package dev.retstack.machine.loader.elf;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.system.ElfAbi;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The relocations of code against counting functions (System V gABI, chapter 4, "Relocation"): of a
 * relocatable object, or of a program that was linked with {@code --emit-relocs}.
 */
final class RelocationTable {
  /**
   * An entry of a table of relocations, as written in the file.
   *
   * @param at where it stands in the file
   * @param offset the place: from the beginning of its section in an object, else its address
   * @param symbol number in the symbol table; 0 for none
   * @param type all that {@code r_info} has beside the symbol
   * @param addend what is added to the symbol; empty where it stands in the place itself (SHT_REL)
   */
  record Entry(long at, long offset, long symbol, int type, OptionalLong addend) {}

  /** Takes entries. */
  @FunctionalInterface
  interface Reader {
    /** The next one. */
    void read(Entry entry) throws ElfFormatException;
  }

  private final ElfBytes bytes;
  private final List<Section> sections;
  private final Set<String> wanted;
  private final Optional<ElfAbi> abi;

  /** The symbols of a table that have a wanted name, by their numbers; by the table's number. */
  private final Int2ObjectMap<Long2ObjectMap<String>> names = new Int2ObjectOpenHashMap<>();

  private RelocationTable(
      ElfBytes bytes, List<Section> sections, Set<String> wanted, Optional<ElfAbi> abi) {
    this.bytes = bytes;
    this.sections = sections;
    this.wanted = wanted;
    this.abi = abi;
  }

  /** Relocations of a file, sorted by address; none in most programs or of an unknown ISA. */
  static List<ElfFile.Relocation> of(
      ElfBytes bytes, ElfHeader header, List<Section> sections, long bias)
      throws ElfFormatException {
    Optional<Isa> isa = header.isa();
    Set<String> wanted =
        isa.stream()
            .flatMap(known -> known.conventions().stream())
            .flatMap(card -> card.symbols().stream())
            .collect(Collectors.toSet());
    RelocationTable table = new RelocationTable(bytes, sections, wanted, isa.map(Isa::elf));
    List<ElfFile.Relocation> found = new ArrayList<>();
    requireRoom(bytes, sections);
    for (Section section : sections) {
      // A loaded table is for the dynamic linker; gold lets those of the PLT name its code.
      if (section.holdsRelocations() && !section.allocated() && !wanted.isEmpty()) {
        Section code = table.target(section);
        if (code.executable() && code.allocated()) {
          table.read(section, code, bias, found);
        }
      }
    }
    found.sort(Comparator.comparing(ElfFile.Relocation::address, Long::compareUnsigned));
    return List.copyOf(found);
  }

  /** The section whose bytes are relocated; of those of a whole program the empty one. */
  private Section target(Section relocations) throws ElfFormatException {
    if (relocations.info() < 0 || relocations.info() >= sections.size()) {
      throw bytes.damaged(
          "sh_info of " + relocations.name(),
          Integer.toUnsignedString(relocations.info()),
          "below " + sections.size() + ", the section count");
    }
    return sections.get(relocations.info());
  }

  private void read(Section section, Section code, long bias, List<ElfFile.Relocation> found)
      throws ElfFormatException {
    Long2ObjectMap<String> symbols = symbols(section);
    if (symbols.isEmpty()) {
      return;
    }
    each(
        bytes,
        section,
        entry -> {
          String symbol = symbols.get(entry.symbol());
          if (symbol != null) {
            long address = entry.offset() + bias;
            if (!code.contains(address)) {
              throw bytes.damaged(
                  "r_offset of " + section.name(),
                  "0x%x".formatted(entry.offset()),
                  "an address in section " + code.name());
            }
            found.add(
                new ElfFile.Relocation(
                    address, abi.orElseThrow().relocationType(entry.type()), symbol));
          }
        });
  }

  private Long2ObjectMap<String> symbols(Section section) throws ElfFormatException {
    Long2ObjectMap<String> known = names.get(section.link());
    if (known == null) {
      known = readSymbols(section);
      names.put(section.link(), known);
    }
    return known;
  }

  private Long2ObjectMap<String> readSymbols(Section section) throws ElfFormatException {
    Section symbols = linked(section, Elf.SHT_SYMTAB, "a symbol table (type 2)");
    Section strings = linked(symbols, Elf.SHT_STRTAB, "a string table (type 3)");
    StringTable table = new StringTable(bytes, strings.offset(), strings.size(), "symbol names");
    int entry = bytes.is64() ? 24 : 16;
    Long2ObjectMap<String> found = new Long2ObjectOpenHashMap<>();
    for (long i = 1; i < symbols.size() / entry; i++) {
      long name = bytes.u32(symbols.offset() + i * entry, "st_name");
      if (table.covers(name) && wanted.contains(table.at(name))) {
        found.put(i, table.at(name));
      }
    }
    return found;
  }

  private Section linked(Section from, int type, String what) throws ElfFormatException {
    int link = from.link();
    if (link < 0 || link >= sections.size() || sections.get(link).type() != type) {
      throw bytes.damaged("sh_link of " + from.name(), Integer.toUnsignedString(link), what);
    }
    return sections.get(link);
  }

  /** Refuses a file whose tables lie over each other: each byte would be read many times. */
  static void requireRoom(ElfBytes bytes, List<Section> sections) throws ElfFormatException {
    long all = 0;
    for (Section section : sections) {
      if (section.holdsRelocations()) {
        all += section.size();
      }
    }
    if (all > bytes.size()) {
      throw bytes.damaged(
          "sh_size of the relocations", all + " bytes in all", "at most those of the file");
    }
  }

  /** Reads all of a table. */
  static void each(ElfBytes bytes, Section table, Reader reader) throws ElfFormatException {
    boolean addends = table.type() == Elf.SHT_RELA;
    int word = bytes.wordBytes();
    int size = word * (addends ? 3 : 2);
    if (table.entryBytes() != size) {
      throw bytes.damaged(
          "sh_entsize of " + table.name(),
          Long.toUnsignedString(table.entryBytes()),
          Integer.toString(size));
    }
    for (long i = 0; i < table.size() / size; i++) {
      long at = table.offset() + i * size;
      long info = bytes.word(at + word, "r_info");
      int type = bytes.is64() ? (int) info : (int) info & 0xff;
      OptionalLong addend =
          addends
              ? OptionalLong.of(signed(bytes, bytes.word(at + 2L * word, "r_addend")))
              : OptionalLong.empty();
      reader.read(
          new Entry(
              at,
              bytes.word(at, "r_offset"),
              bytes.is64() ? info >>> 32 : info >>> 8,
              type,
              addend));
    }
  }

  private static long signed(ElfBytes bytes, long word) {
    return bytes.is64() ? word : (int) word;
  }
}
