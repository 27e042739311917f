package dev.retstack.fleet.loader;

import java.util.List;
import java.util.OptionalLong;

/**
 * One entry of a table of relocations, as written in the file.
 *
 * @param at where it stands in the file
 * @param offset the place: from the beginning of its section in an object, else its address
 * @param symbol number in the symbol table; 0 for none
 * @param type the lowest byte of it on MIPS n64, which has three
 * @param addend what is added to the symbol; empty where it stands in the place itself (SHT_REL)
 */
record RelocationEntry(long at, long offset, long symbol, int type, OptionalLong addend) {
  private static final int EM_MIPS = 8;

  /** Takes entries. */
  @FunctionalInterface
  interface Reader {
    /** The next one. */
    void read(RelocationEntry entry) throws ElfFormatException;
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
    boolean threeTypes = bytes.is64() && bytes.u16(18, "e_machine") == EM_MIPS;
    for (long i = 0; i < table.size() / size; i++) {
      long at = table.offset() + i * size;
      long info = bytes.word(at + word, "r_info");
      int type = bytes.is64() ? (int) info : (int) info & 0xff;
      OptionalLong addend =
          addends
              ? OptionalLong.of(signed(bytes, bytes.word(at + 2L * word, "r_addend")))
              : OptionalLong.empty();
      reader.read(
          new RelocationEntry(
              at,
              bytes.word(at, "r_offset"),
              bytes.is64() ? info >>> 32 : info >>> 8,
              threeTypes ? type & 0xff : type,
              addend));
    }
  }

  private static long signed(ElfBytes bytes, long word) {
    return bytes.is64() ? word : (int) word;
  }
}
