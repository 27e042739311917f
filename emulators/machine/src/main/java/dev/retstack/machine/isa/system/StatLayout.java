package dev.retstack.machine.isa.system;

/**
 * The structure that {@code stat} writes, with 64-bit sizes: {@code struct stat64} if words have 32
 * bits, {@code struct stat} if they have 64. Source: {@code asm/stat.h} of each architecture.
 *
 * @param bytes size of the structure
 * @param inode {@code st_ino}
 * @param mode {@code st_mode}
 * @param links {@code st_nlink}
 * @param size {@code st_size}
 * @param blockSize {@code st_blksize}
 * @param blocks {@code st_blocks}, of 512 bytes
 */
public record StatLayout(
    int bytes, Field inode, Field mode, Field links, Field size, Field blockSize, Field blocks) {

  /**
   * A number in a structure.
   *
   * @param at its offset
   * @param bytes 2, 4 or 8
   */
  public record Field(int at, int bytes) {}

  /** {@code asm-generic/stat.h}. */
  public static final StatLayout GENERIC =
      new StatLayout(128, eight(8), four(16), four(20), eight(48), four(56), eight(64));

  /** {@code struct statx}, alike everywhere; {@code include/uapi/linux/stat.h}. */
  public static final StatLayout EXTENDED =
      new StatLayout(256, eight(32), new Field(28, 2), four(16), eight(40), four(4), eight(48));

  /** A number of 8 bytes at an offset. */
  public static Field eight(int at) {
    return new Field(at, Long.BYTES);
  }

  /** A number of 4 bytes at an offset. */
  public static Field four(int at) {
    return new Field(at, Integer.BYTES);
  }
}
