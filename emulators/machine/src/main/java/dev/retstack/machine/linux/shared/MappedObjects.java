package dev.retstack.machine.linux.shared;

import dev.retstack.machine.loader.LoadedImage;

/** Hears which executable segments of ELF files a program maps and unmaps. */
public interface MappedObjects {
  /**
   * A range of a file's bytes that stands in memory and may be executed.
   *
   * @param image the file, its addresses as the file has them: its path, its build-id, its
   *     functions and its call sites
   * @param bias what is added to these addresses in memory
   * @param base address of the first byte
   * @param fileOffset of that byte
   * @param length bytes, whole pages
   * @param protection PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4
   */
  record Mapped(
      LoadedImage image, long bias, long base, long fileOffset, long length, int protection) {}

  /** The range is mapped; no instruction of it has run. */
  void mapped(Mapped object);

  /** The part of such a range that is gone: it was unmapped, or other memory stands there. */
  void unmapped(long base, long length);
}
