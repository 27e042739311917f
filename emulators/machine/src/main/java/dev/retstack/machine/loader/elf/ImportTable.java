package dev.retstack.machine.loader.elf;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The functions of other files that the tracer must know of: counting functions, and those that
 * start and end a profile (System V gABI, chapter 5, "Dynamic Linking"). Read by the sections,
 * which also stripped programs have. A counting function that a shared object defines and calls
 * through a word all the same, as on ppc32, may be another file's.
 *
 * <p>Which words get their addresses is said by relocations and, in some ISAs, by their places in
 * the global offset table alone (MIPS psABI, chapter 5, "Global Offset Table").
 */
final class ImportTable {
  private final ElfBytes bytes;
  private final List<Section> sections;
  private final Optional<ElfAbi.ImplicitSlots> implicit;
  private final Predicate<String> wanted;
  private final Set<String> counting;
  private final long bias;

  private ImportTable(
      ElfBytes bytes,
      Isa isa,
      List<Section> sections,
      Predicate<String> wanted,
      Set<String> counting,
      long bias) {
    this.bytes = bytes;
    this.sections = sections;
    this.wanted = wanted;
    this.counting = counting;
    this.bias = bias;
    implicit = isa.elf().implicitSlots();
  }

  /** Imports of a file, in the order of its table; none of an unknown ISA. */
  static List<ElfFile.Import> of(
      ElfBytes bytes, ElfHeader header, List<Section> sections, long bias)
      throws ElfFormatException {
    Optional<Isa> isa = header.isa();
    if (isa.isEmpty()) {
      return List.of();
    }
    Set<String> counting = new HashSet<>();
    isa.get().conventions().forEach(card -> counting.addAll(card.symbols()));
    Set<String> wanted = new HashSet<>(DynamicAbi.PROFILING);
    wanted.addAll(counting);
    return new ImportTable(bytes, isa.get(), sections, wanted::contains, counting, bias).read();
  }

  /** The words that get the address of something in another file, with its name. */
  static Long2ObjectMap<String> slots(
      ElfBytes bytes, ElfHeader header, List<Section> sections, long bias)
      throws ElfFormatException {
    Long2ObjectMap<String> names = new Long2ObjectOpenHashMap<>();
    if (header.isa().isPresent()) {
      Isa isa = header.isa().get();
      for (ElfFile.Import found :
          new ImportTable(bytes, isa, sections, _ -> true, Set.of(), bias).read()) {
        found.slots().forEach(slot -> names.put((long) slot, found.name()));
      }
    }
    return names;
  }

  private List<ElfFile.Import> read() throws ElfFormatException {
    for (int i = 0; i < sections.size(); i++) {
      if (sections.get(i).type() == Elf.SHT_DYNSYM && sections.get(i).allocated()) {
        return read(i);
      }
    }
    return List.of();
  }

  private List<ElfFile.Import> read(int index) throws ElfFormatException {
    Section table = sections.get(index);
    Long2ObjectMap<String> names = names(table);
    if (names.isEmpty()) {
      return List.of();
    }
    Long2ObjectMap<List<Long>> slots = implicitSlots(names);
    for (Section section : sections) {
      if (section.holdsRelocations() && section.allocated() && section.link() == index) {
        RelocationTable.each(
            bytes,
            section,
            entry -> {
              if (names.containsKey(entry.symbol())) {
                slots
                    .computeIfAbsent(entry.symbol(), s -> new ArrayList<>())
                    .add(entry.offset() + bias);
              }
            });
      }
    }
    for (long symbol : names.keySet().toLongArray()) {
      if (!slots.containsKey(symbol) && isDefined(table, symbol)) {
        names.remove(symbol);
      }
    }
    List<ElfFile.Import> found = new ArrayList<>();
    names.forEach(
        (symbol, name) ->
            found.add(
                new ElfFile.Import(
                    name,
                    table.address() + symbol * entryBytes(),
                    slots.getOrDefault(symbol, List.of()))));
    return List.copyOf(found);
  }

  /** The words of the global offset table that no relocation names. */
  private Long2ObjectMap<List<Long>> implicitSlots(Long2ObjectMap<String> names)
      throws ElfFormatException {
    Long2ObjectMap<List<Long>> slots = new Long2ObjectLinkedOpenHashMap<>();
    if (implicit.isPresent()) {
      OptionalLong table = dynamic(Elf.DT_PLTGOT);
      OptionalLong first = dynamic(implicit.get().firstSymbol());
      OptionalLong before = dynamic(implicit.get().wordsBefore());
      for (long symbol : names.keySet()) {
        if (table.isPresent()
            && first.isPresent()
            && before.isPresent()
            && symbol >= first.getAsLong()) {
          long index = before.getAsLong() + symbol - first.getAsLong();
          List<Long> one = new ArrayList<>();
          one.add(table.getAsLong() + bias + index * bytes.wordBytes());
          slots.put(symbol, one);
        }
      }
    }
    return slots;
  }

  /** The value of a tag of the dynamic section; empty where it does not have it. */
  private OptionalLong dynamic(int tag) throws ElfFormatException {
    int word = bytes.wordBytes();
    for (Section section : sections) {
      if (section.type() == Elf.SHT_DYNAMIC && section.allocated()) {
        for (long at = 0; at + 2L * word <= section.size(); at += 2L * word) {
          if (bytes.word(section.offset() + at, "d_tag") == tag) {
            return OptionalLong.of(bytes.word(section.offset() + at + word, "d_val"));
          }
        }
      }
    }
    return OptionalLong.empty();
  }

  /** Wanted symbols that the file does not define, and counting functions, by number. */
  private Long2ObjectMap<String> names(Section table) throws ElfFormatException {
    Long2ObjectMap<String> found = new Long2ObjectLinkedOpenHashMap<>();
    int link = table.link();
    if (link < 0 || link >= sections.size() || sections.get(link).type() != Elf.SHT_STRTAB) {
      throw bytes.damaged(
          "sh_link of " + table.name(), Integer.toUnsignedString(link), "a string table (type 3)");
    }
    Section strings = sections.get(link);
    StringTable names = new StringTable(bytes, strings.offset(), strings.size(), "symbol names");
    for (long i = 1; i < table.size() / entryBytes(); i++) {
      long at = table.offset() + i * entryBytes();
      long name = bytes.u32(at, "st_name");
      if (names.covers(name)
          && (isDefined(table, i)
              ? counting.contains(names.at(name))
              : wanted.test(names.at(name)))) {
        found.put(i, names.at(name));
      }
    }
    return found;
  }

  private boolean isDefined(Section table, long symbol) throws ElfFormatException {
    long at = table.offset() + symbol * entryBytes();
    return bytes.u16(at + (bytes.is64() ? 6 : 14), "st_shndx") != Elf.SHN_UNDEF;
  }

  private int entryBytes() {
    return bytes.is64() ? 24 : 16;
  }
}
