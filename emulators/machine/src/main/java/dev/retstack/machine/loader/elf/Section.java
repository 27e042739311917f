package dev.retstack.machine.loader.elf;

/**
 * A named range of the file.
 *
 * @param name as in the section header string table
 * @param type {@code sh_type}
 * @param flags {@code sh_flags}
 * @param address where it is loaded, 0 = it is not
 * @param offset where it stands in the file
 * @param size bytes; of the file, except for sections without bits (.bss)
 * @param link index of the section that this one refers to
 * @param info of relocations: index of the section whose bytes they change
 * @param align what the address is a multiple of; 0 and 1 for any
 * @param entryBytes size of one entry where the section is a table
 */
public record Section(
    String name,
    int type,
    long flags,
    long address,
    long offset,
    long size,
    int link,
    int info,
    long align,
    long entryBytes) {

  /** True where the section holds instructions. */
  public boolean executable() {
    return (flags & Elf.SHF_EXECINSTR) != 0;
  }

  /** True where the section lists relocations. */
  boolean holdsRelocations() {
    return type == Elf.SHT_REL || type == Elf.SHT_RELA;
  }

  /** True where the file has the section compressed, behind a header that says how. */
  public boolean compressed() {
    return (flags & Elf.SHF_COMPRESSED) != 0;
  }

  /** True where the section is loaded into memory. */
  public boolean allocated() {
    return (flags & Elf.SHF_ALLOC) != 0;
  }

  /** True where {@code pc} lies in the section in memory. */
  public boolean contains(long pc) {
    return allocated() && Long.compareUnsigned(pc - address, size) < 0;
  }
}
