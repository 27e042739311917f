package dev.retstack.fleet.isa;

/**
 * Flags of {@code open}, as {@code asm/fcntl.h} numbers them. Read-only, write-only and both are 0,
 * 1 and 2 everywhere.
 *
 * @param create {@code O_CREAT}
 * @param exclusive {@code O_EXCL}
 * @param truncate {@code O_TRUNC}
 * @param append {@code O_APPEND}
 * @param nonBlocking {@code O_NONBLOCK}
 * @param folder {@code O_DIRECTORY}
 * @param noFollow {@code O_NOFOLLOW}
 * @param closeOnExec {@code O_CLOEXEC}
 * @param unnamed {@code __O_TMPFILE}
 */
public record OpenFlags(
    int create,
    int exclusive,
    int truncate,
    int append,
    int nonBlocking,
    int folder,
    int noFollow,
    int closeOnExec,
    int unnamed) {

  /** {@code asm-generic/fcntl.h}. */
  static final OpenFlags GENERIC =
      new OpenFlags(0x40, 0x80, 0x200, 0x400, 0x800, 0x1_0000, 0x2_0000, 0x8_0000, 0x40_0000);

  /** Other flags have the places of O_DIRECTORY and O_NOFOLLOW. */
  static final OpenFlags EXCHANGED =
      new OpenFlags(0x40, 0x80, 0x200, 0x400, 0x800, 0x4000, 0x8000, 0x8_0000, 0x40_0000);

  static final OpenFlags MIPS =
      new OpenFlags(0x100, 0x400, 0x200, 0x8, 0x80, 0x1_0000, 0x2_0000, 0x8_0000, 0x40_0000);

  static final OpenFlags SPARC =
      new OpenFlags(0x200, 0x800, 0x400, 0x8, 0x4000, 0x1_0000, 0x2_0000, 0x40_0000, 0x200_0000);

  /** True where a flag is among others. */
  public static boolean has(int flags, int flag) {
    return (flags & flag) == flag;
  }
}
