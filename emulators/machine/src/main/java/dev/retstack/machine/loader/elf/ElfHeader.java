package dev.retstack.machine.loader.elf;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The file header: what kind of file this is and where its tables stand.
 *
 * @param is64 64-bit class
 * @param bigEndian byte order of the file and of the guest
 * @param type {@code e_type}: 2 executable, 3 position-independent executable
 * @param machine {@code e_machine}
 * @param flags {@code e_flags}: meaning is the machine's own
 * @param entry first instruction, as written in the file
 * @param programHeaderOffset offset in the file of the program headers
 * @param programHeaderCount how many there are
 * @param sectionHeaderOffset offset in the file of the section headers, 0 = none
 * @param sectionHeaderCount how many there are
 * @param sectionNames index of the section that holds the names of sections
 */
record ElfHeader(
    boolean is64,
    boolean bigEndian,
    int type,
    int machine,
    int flags,
    long entry,
    long programHeaderOffset,
    int programHeaderCount,
    long sectionHeaderOffset,
    int sectionHeaderCount,
    int sectionNames) {

  /** The ISA that the file is of; empty where it is not traced. */
  Optional<Isa> isa() {
    return Isas.find(machine, is64 ? Long.BYTES : Integer.BYTES, bigEndian);
  }

  /** True where {@code st_other} describes local entries. */
  boolean localEntries() {
    return isa().filter(isa -> isa.elf().localEntries().test(flags)).isPresent();
  }

  int programHeaderBytes() {
    return is64 ? 56 : 32;
  }

  int sectionHeaderBytes() {
    return is64 ? 64 : 40;
  }

  /** Looks at the identification bytes only, to know how to read all others. */
  static ElfBytes open(byte[] content, String file) throws ElfFormatException {
    requireMagic(content, file);
    int fileClass = content[Elf.EI_CLASS] & 0xFF;
    int data = content[Elf.EI_DATA] & 0xFF;
    if (fileClass != Elf.ELFCLASS32 && fileClass != Elf.ELFCLASS64) {
      throw damaged(file, "EI_CLASS", fileClass, "1 (32-bit) or 2 (64-bit)");
    }
    if (data != Elf.ELFDATA2LSB && data != Elf.ELFDATA2MSB) {
      throw damaged(file, "EI_DATA", data, "1 (little-endian) or 2 (big-endian)");
    }
    ByteBuffer bytes =
        ByteBuffer.wrap(content)
            .order(data == Elf.ELFDATA2MSB ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    return new ElfBytes(bytes, file, fileClass == Elf.ELFCLASS64);
  }

  /** Reads the header and refuses what is not an executable. */
  static ElfHeader parse(ElfBytes bytes) throws ElfFormatException {
    ElfHeader header = read(bytes);
    header.requireExecutable(bytes);
    header.requireSegments(bytes);
    header.requireSections(bytes);
    return header;
  }

  /** Reads the header and refuses what is not a relocatable object. */
  static ElfHeader parseObject(ElfBytes bytes) throws ElfFormatException {
    ElfHeader header = read(bytes);
    if (header.type != Elf.ET_REL) {
      throw bytes.damaged("e_type", Integer.toString(header.type), "1 (relocatable object)");
    }
    if (header.sectionHeaderOffset == 0 || header.sectionHeaderCount == 0) {
      throw bytes.refuse(
          "e_shnum",
          Integer.toString(header.sectionHeaderCount),
          "1 to 65279",
          "give an object as the compiler made it: it has no sections to read");
    }
    header.requireSections(bytes);
    return header;
  }

  /** {@code e_type} of a file, before anything else of it is believed. */
  static int typeOf(byte[] content, String file) throws ElfFormatException {
    return open(content, file).u16(16, "e_type");
  }

  private static ElfHeader read(ElfBytes bytes) throws ElfFormatException {
    boolean is64 = bytes.is64();
    int word = bytes.wordBytes();
    bytes.requireRange(0, is64 ? 64 : 52, "the file header");
    boolean bigEndian = bytes.u8(Elf.EI_DATA, "EI_DATA") == Elf.ELFDATA2MSB;
    int type = bytes.u16(16, "e_type");
    long version = bytes.u32(20, "e_version");
    if (version != 1) {
      throw bytes.damaged("e_version", Long.toString(version), "1");
    }
    long at = 24 + 3L * word;
    return new ElfHeader(
        is64,
        bigEndian,
        type,
        bytes.u16(18, "e_machine"),
        (int) bytes.u32(at, "e_flags"),
        bytes.word(24, "e_entry"),
        bytes.word(24 + word, "e_phoff"),
        bytes.u16(at + 8, "e_phnum"),
        bytes.word(24 + 2L * word, "e_shoff"),
        bytes.u16(at + 12, "e_shnum"),
        bytes.u16(at + 14, "e_shstrndx"));
  }

  private void requireSegments(ElfBytes bytes) throws ElfFormatException {
    if (programHeaderCount == 0) {
      throw bytes.refuse(
          "e_phnum", "0", "at least one", "link the program: it has no program headers to load");
    }
    if (programHeaderCount == Elf.PN_XNUM) {
      throw bytes.refuse("e_phnum", "0xffff", "at most 65534", "link with fewer segments");
    }
    requireEntry(bytes, "e_phentsize", 30 + 3 * bytes.wordBytes(), programHeaderBytes());
    bytes.requireRange(
        programHeaderOffset, (long) programHeaderCount * programHeaderBytes(), "e_phoff");
  }

  /** Offset in the file behind the program headers. */
  long programHeadersEnd() {
    return programHeaderOffset + (long) programHeaderCount * programHeaderBytes();
  }

  private void requireSections(ElfBytes bytes) throws ElfFormatException {
    if (sectionHeaderOffset == 0) {
      return;
    }
    requireEntry(bytes, "e_shentsize", 34 + 3 * bytes.wordBytes(), sectionHeaderBytes());
    bytes.requireRange(
        sectionHeaderOffset, (long) sectionHeaderCount * sectionHeaderBytes(), "e_shoff");
  }

  private static void requireEntry(ElfBytes bytes, String field, long at, int size)
      throws ElfFormatException {
    int found = bytes.u16(at, field);
    if (found != size) {
      throw bytes.damaged(field, Integer.toString(found), Integer.toString(size));
    }
  }

  private void requireExecutable(ElfBytes bytes) throws ElfFormatException {
    String allowed = "2 (executable) or 3 (static-pie)";
    switch (type) {
      case Elf.ET_EXEC, Elf.ET_DYN -> {}
      case Elf.ET_REL ->
          throw bytes.refuse(
              "e_type", "1 (relocatable object)", allowed, "link it into a program first");
      case Elf.ET_CORE ->
          throw bytes.refuse(
              "e_type", "4 (core dump)", allowed, "give the program that dumped it instead");
      default -> throw bytes.damaged("e_type", Integer.toString(type), allowed);
    }
  }

  private static void requireMagic(byte[] content, String file) throws ElfFormatException {
    if (content.length >= Elf.EI_NIDENT
        && content[0] == 0x7F
        && content[1] == 'E'
        && content[2] == 'L'
        && content[3] == 'F') {
      return;
    }
    String start = new String(content, 0, Math.min(8, content.length), StandardCharsets.ISO_8859_1);
    String kind;
    if (start.startsWith("!<arch>")) {
      kind = "that of an archive (.a)";
    } else if (start.startsWith("#!")) {
      kind = "that of a script";
    } else if (start.startsWith("MZ")) {
      kind = "that of a Windows program";
    } else if (content.length < Elf.EI_NIDENT) {
      kind = content.length + " bytes in all";
    } else {
      kind = "0x%02x%02x%02x%02x".formatted(content[0], content[1], content[2], content[3]);
    }
    throw new ElfFormatException(
        file, "the magic number", kind, "0x7f454c46 (ELF)", "give a linked ELF program");
  }

  private static ElfFormatException damaged(String file, String field, int value, String allowed) {
    return new ElfFormatException(
        file,
        field,
        Integer.toString(value),
        allowed,
        "the file is cut off or damaged: build or copy it again");
  }
}
