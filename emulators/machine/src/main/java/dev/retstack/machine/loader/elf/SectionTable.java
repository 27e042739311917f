package dev.retstack.machine.loader.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The section headers; none in a stripped or hand-made file.
 *
 * @param sections in the order of the file
 */
record SectionTable(List<Section> sections) {

  static SectionTable parse(ElfBytes bytes, ElfHeader header, long bias) throws ElfFormatException {
    if (header.sectionHeaderOffset() == 0 || header.sectionHeaderCount() == 0) {
      return new SectionTable(List.of());
    }
    List<Raw> raws = new ArrayList<>(header.sectionHeaderCount());
    for (int i = 0; i < header.sectionHeaderCount(); i++) {
      raws.add(Raw.read(bytes, header, i));
    }
    StringTable names = names(bytes, header, raws);
    List<Section> sections = new ArrayList<>(raws.size());
    for (Raw raw : raws) {
      sections.add(raw.toSection(names, bias));
    }
    return new SectionTable(List.copyOf(sections));
  }

  Optional<Section> find(String name) {
    return sections.stream().filter(s -> s.name().equals(name)).findFirst();
  }

  /** Executable sections in memory, in the order of the file. */
  List<Section> code() {
    return sections.stream().filter(s -> s.executable() && s.allocated()).toList();
  }

  private static StringTable names(ElfBytes bytes, ElfHeader header, List<Raw> raws)
      throws ElfFormatException {
    int index = header.sectionNames();
    if (index == 0) {
      return StringTable.empty(bytes);
    }
    if (index >= raws.size()) {
      throw bytes.damaged(
          "e_shstrndx", Integer.toString(index), "below " + raws.size() + ", the section count");
    }
    Raw raw = raws.get(index);
    if (raw.type != Elf.SHT_STRTAB) {
      throw bytes.damaged(
          "e_shstrndx", index + " (a section of type " + raw.type + ")", "a string table (type 3)");
    }
    return new StringTable(bytes, raw.offset, raw.size, "section names");
  }

  /** A section header before its name is known. */
  private record Raw(
      long nameOffset,
      int type,
      long flags,
      long address,
      long offset,
      long size,
      int link,
      int info,
      long align,
      long entryBytes) {

    static Raw read(ElfBytes bytes, ElfHeader header, int index) throws ElfFormatException {
      long at = header.sectionHeaderOffset() + (long) index * header.sectionHeaderBytes();
      int w = bytes.wordBytes();
      long linkAt = at + 8 + 4L * w;
      Raw raw =
          new Raw(
              bytes.u32(at, "sh_name"),
              (int) bytes.u32(at + 4, "sh_type"),
              bytes.word(at + 8, "sh_flags"),
              bytes.word(at + 8 + w, "sh_addr"),
              bytes.word(at + 8 + 2L * w, "sh_offset"),
              bytes.word(at + 8 + 3L * w, "sh_size"),
              (int) bytes.u32(linkAt, "sh_link"),
              (int) bytes.u32(linkAt + 4, "sh_info"),
              bytes.word(linkAt + 8, "sh_addralign"),
              bytes.word(linkAt + 8 + w, "sh_entsize"));
      if (raw.type != 0 && raw.type != Elf.SHT_NOBITS) {
        bytes.requireRange(raw.offset, raw.size, "sh_offset of section " + index);
      }
      return raw;
    }

    Section toSection(StringTable names, long bias) throws ElfFormatException {
      boolean allocated = (flags & Elf.SHF_ALLOC) != 0;
      return new Section(
          names.at(nameOffset),
          type,
          flags,
          allocated ? address + bias : 0,
          offset,
          size,
          link,
          info,
          align,
          entryBytes);
    }
  }
}
