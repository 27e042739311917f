package dev.retstack.machine.loader.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads .symtab, or .dynsym if the file was stripped of .symtab. */
final class SymbolReader {
  private static final int STT_SECTION = 3;
  private static final int STT_FILE = 4;
  private static final int STT_TLS = 6;
  private static final int STT_GNU_IFUNC = 10;

  private final ElfBytes bytes;
  private final SectionTable sections;
  private final long bias;
  private final boolean localEntries;
  private final List<String> warnings;

  SymbolReader(
      ElfBytes bytes, ElfHeader header, SectionTable sections, long bias, List<String> warnings) {
    this.bytes = bytes;
    this.sections = sections;
    this.bias = bias;
    this.localEntries = header.localEntries();
    this.warnings = warnings;
  }

  /** Every defined symbol with a name, in the order of the table; single bad ones left out. */
  List<Symbol> read() throws ElfFormatException {
    Optional<Section> table = ofType(Elf.SHT_SYMTAB);
    if (table.isEmpty()) {
      table = ofType(Elf.SHT_DYNSYM);
    }
    return table.isEmpty() ? List.of() : read(table.get());
  }

  private Optional<Section> ofType(int type) {
    return sections.sections().stream().filter(s -> s.type() == type && s.size() > 0).findFirst();
  }

  private List<Symbol> read(Section table) throws ElfFormatException {
    int entry = bytes.is64() ? 24 : 16;
    if (table.entryBytes() != entry) {
      throw bytes.damaged(
          "sh_entsize of " + table.name(),
          Long.toUnsignedString(table.entryBytes()),
          Integer.toString(entry));
    }
    StringTable names = names(table);
    long count = table.size() / entry;
    List<Symbol> symbols = new ArrayList<>();
    int dropped = 0;
    for (long i = 1; i < count; i++) {
      long at = table.offset() + i * entry;
      if (!names.covers(bytes.u32(at, "st_name"))) {
        dropped++;
        continue;
      }
      Symbol symbol = symbol(at, names);
      if (symbol != null) {
        symbols.add(symbol);
      }
    }
    if (dropped > 0) {
      warnings.add(
          "%s: %d of %d symbols of %s left out: their names lie outside the string table"
              .formatted(bytes.file(), dropped, count, table.name()));
    }
    return symbols;
  }

  private StringTable names(Section table) throws ElfFormatException {
    int link = table.link();
    String field = "sh_link of " + table.name();
    if (link < 0 || link >= sections.sections().size()) {
      throw bytes.damaged(
          field, Integer.toUnsignedString(link), "below " + sections.sections().size());
    }
    Section strings = sections.sections().get(link);
    if (strings.type() != Elf.SHT_STRTAB) {
      throw bytes.damaged(field, "a section of type " + strings.type(), "a string table (type 3)");
    }
    return new StringTable(bytes, strings.offset(), strings.size(), "symbol names");
  }

  private Symbol symbol(long at, StringTable names) throws ElfFormatException {
    boolean is64 = bytes.is64();
    int info = bytes.u8(at + (is64 ? 4 : 12), "st_info");
    int section = bytes.u16(at + (is64 ? 6 : 14), "st_shndx");
    int type = info & 0xF;
    if (section == Elf.SHN_UNDEF
        || section == Elf.SHN_COMMON
        || type == STT_SECTION
        || type == STT_FILE
        || type == STT_TLS) {
      return null;
    }
    String name = names.at(bytes.u32(at, "st_name"));
    if (name.isEmpty()) {
      return null;
    }
    long value = bytes.word(at + (is64 ? 8 : 4), "st_value");
    long size = bytes.word(at + (is64 ? 16 : 8), "st_size");
    // Absolute symbols are numbers, not places: a bias does not move them.
    long address = section == Elf.SHN_ABS ? value : value + bias;
    int other = bytes.u8(at + (is64 ? 5 : 13), "st_other");
    int localEntry = localEntries ? localEntry(other) : 0;
    return new Symbol(name, address, Math.max(0, size), kind(type), binding(info >> 4), localEntry);
  }

  /** 64-Bit ELF V2 ABI, "Symbol Values": three bits, a power of two from four bytes on. */
  private static int localEntry(int other) {
    int power = other >> 5;
    return power < 2 || power > 6 ? 0 : 1 << power;
  }

  private static Symbol.Kind kind(int type) {
    return switch (type) {
      case 1 -> Symbol.Kind.OBJECT;
      case 2 -> Symbol.Kind.FUNCTION;
      case STT_GNU_IFUNC -> Symbol.Kind.INDIRECT_FUNCTION;
      default -> Symbol.Kind.NONE;
    };
  }

  private static Symbol.Binding binding(int binding) {
    return switch (binding) {
      case 0 -> Symbol.Binding.LOCAL;
      case 2 -> Symbol.Binding.WEAK;
      default -> Symbol.Binding.GLOBAL;
    };
  }
}
