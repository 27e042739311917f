package dev.retstack.fleet.core;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;

/** How much memory an engine gets for translated code. */
final class TranslationBuffer {
  /**
   * Bytes of translated code per byte of guest code, hooks included. When the buffer is too small
   * for what a program runs, all of it is translated again and again: measured 10 times slower. A
   * bigger one costs address space only, but above 2 MiB the host may give it huge pages.
   */
  private static final int PER_BYTE = 64;

  private static final int MIN = 1 << 20;
  private static final int MAX = 32 << 20;

  /** A buffer of just this size would get one: 2 ms to clear, and all of it resident. */
  private static final int HUGE_PAGE = 2 << 20;

  private TranslationBuffer() {}

  static int bytesFor(ElfFile image) {
    long code =
        image.segments().stream().filter(Segment::executable).mapToLong(Segment::memoryBytes).sum();
    long wanted = Math.clamp(code, 1L, (long) MAX / PER_BYTE) * PER_BYTE;
    int bytes = (int) Math.max(Long.highestOneBit(wanted), MIN);
    return bytes == HUGE_PAGE ? bytes - (bytes >> 4) : bytes;
  }
}
