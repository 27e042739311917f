package dev.retstack.fleet.loader;

import dev.retstack.fleet.isa.Isas;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The relocations of code against counting functions (System V gABI, chapter 4, "Relocation"): of a
 * relocatable object, or of a program that was linked with {@code --emit-relocs}.
 */
final class RelocationTable {
  private final ElfBytes bytes;
  private final List<Section> sections;
  private final Set<String> wanted;

  /** The symbols of a table that have a wanted name, by their numbers; by the table's number. */
  private final Int2ObjectMap<Long2ObjectMap<String>> names = new Int2ObjectOpenHashMap<>();

  private RelocationTable(ElfBytes bytes, List<Section> sections, Set<String> wanted) {
    this.bytes = bytes;
    this.sections = sections;
    this.wanted = wanted;
  }

  /** Those of a file, sorted by address; none in most programs, and none of an unknown ISA. */
  static List<Relocation> of(ElfBytes bytes, ElfHeader header, List<Section> sections, long bias)
      throws ElfFormatException {
    Set<String> wanted =
        Isas.find(header.machine(), bytes.wordBytes(), header.bigEndian()).stream()
            .flatMap(isa -> isa.conventions().stream())
            .flatMap(card -> card.symbols().stream())
            .collect(Collectors.toSet());
    RelocationTable table = new RelocationTable(bytes, sections, wanted);
    List<Relocation> found = new ArrayList<>();
    RelocationEntry.requireRoom(bytes, sections);
    for (Section section : sections) {
      if (section.holdsRelocations() && !wanted.isEmpty()) {
        Section code = table.target(section);
        if (code.executable() && code.allocated()) {
          table.read(section, code, bias, found);
        }
      }
    }
    found.sort(Comparator.comparing(Relocation::address, Long::compareUnsigned));
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

  private void read(Section section, Section code, long bias, List<Relocation> found)
      throws ElfFormatException {
    Long2ObjectMap<String> symbols = symbols(section);
    if (symbols.isEmpty()) {
      return;
    }
    RelocationEntry.each(
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
            found.add(new Relocation(address, entry.type(), symbol));
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
}
