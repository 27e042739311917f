package dev.retstack.machine.loader.elf;

/** Numbers of the ELF specification (System V gABI, chapter 4 and 5) that the loader uses. */
final class Elf {
  static final int EI_CLASS = 4;
  static final int EI_DATA = 5;
  static final int EI_NIDENT = 16;
  static final int ELFCLASS32 = 1;
  static final int ELFCLASS64 = 2;
  static final int ELFDATA2LSB = 1;
  static final int ELFDATA2MSB = 2;

  static final int ET_REL = 1;
  static final int ET_EXEC = 2;
  static final int ET_DYN = 3;
  static final int ET_CORE = 4;

  static final int PT_LOAD = 1;
  static final int PT_INTERP = 3;
  static final int PT_NOTE = 4;
  static final int PT_GNU_STACK = 0x6474e551;
  static final int PF_X = 1;
  static final int PF_W = 2;
  static final int PF_R = 4;
  static final int PN_XNUM = 0xFFFF;

  static final int SHT_SYMTAB = 2;
  static final int SHT_STRTAB = 3;
  static final int SHT_RELA = 4;
  static final int SHT_DYNAMIC = 6;
  static final int SHT_NOTE = 7;
  static final int SHT_NOBITS = 8;
  static final int SHT_REL = 9;
  static final int SHT_DYNSYM = 11;
  static final long SHF_ALLOC = 2;
  static final long SHF_EXECINSTR = 4;
  static final long SHF_COMPRESSED = 0x800;
  static final int SHN_UNDEF = 0;
  static final int SHN_LORESERVE = 0xFF00;
  static final int SHN_ABS = 0xFFF1;
  static final int SHN_COMMON = 0xFFF2;

  static final int DT_PLTGOT = 3;

  static final int NT_GNU_BUILD_ID = 3;

  private Elf() {}
}
