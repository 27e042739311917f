package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.SyscallAbi;

/**
 * What {@code stat} writes: the structure that has 64-bit sizes, {@code struct stat64} where words
 * have 32 bits, and {@code struct stat} where they have 64.
 *
 * @param bytes size of the structure
 * @param inode {@code st_ino}
 * @param mode {@code st_mode}
 * @param links {@code st_nlink}
 * @param size {@code st_size}
 * @param blockSize {@code st_blksize}
 * @param blocks {@code st_blocks}, of 512 bytes
 */
record StatLayout(
    int bytes, Field inode, Field mode, Field links, Field size, Field blockSize, Field blocks) {

  /**
   * A number in a structure.
   *
   * @param at its offset
   * @param bytes 2, 4 or 8
   */
  record Field(int at, int bytes) {
    void write(GuestMemory memory, long structure, long value) {
      if (bytes == Long.BYTES) {
        memory.writeLong(structure + at, value);
      } else if (bytes == Integer.BYTES) {
        memory.writeInt(structure + at, (int) value);
      } else {
        memory.writeShort(structure + at, (short) value);
      }
    }
  }

  /** {@code struct statx}, alike everywhere; {@code include/uapi/linux/stat.h}. */
  static final StatLayout EXTENDED =
      new StatLayout(256, eight(32), new Field(28, 2), four(16), eight(40), four(4), eight(48));

  private static final int BLOCK_BYTES = 4096;
  private static final int COUNTED_BYTES = 512;

  /** The layout of an architecture, from its {@code asm/stat.h}. */
  static StatLayout of(SyscallAbi.Numbers numbers, int wordBytes) {
    return switch (numbers) {
      case X86_64 -> wideLinks();
      case POWERPC -> wordBytes == Long.BYTES ? wideLinks() : powerpc32();
      case GENERIC, GENERIC_32 ->
          new StatLayout(128, eight(8), four(16), four(20), eight(48), four(56), eight(64));
      case S390X ->
          new StatLayout(144, eight(8), four(24), eight(16), eight(48), eight(104), eight(112));
      case MIPS_O32, MIPS_N64 ->
          new StatLayout(104, eight(16), four(24), four(28), eight(56), four(88), eight(96));
      case I386 ->
          new StatLayout(96, eight(88), four(16), four(20), eight(44), four(52), eight(56));
      case ARM ->
          new StatLayout(104, eight(96), four(16), four(20), eight(48), four(56), eight(64));
      case M68K ->
          new StatLayout(92, eight(84), four(14), four(18), eight(40), four(48), eight(52));
      case SPARC ->
          new StatLayout(104, eight(8), four(16), four(20), eight(48), four(56), four(68));
    };
  }

  private static StatLayout wideLinks() {
    return new StatLayout(144, eight(8), four(24), eight(16), eight(48), eight(56), eight(64));
  }

  private static StatLayout powerpc32() {
    return new StatLayout(104, eight(8), four(16), four(20), eight(48), four(56), eight(64));
  }

  private static Field eight(int at) {
    return new Field(at, Long.BYTES);
  }

  private static Field four(int at) {
    return new Field(at, Integer.BYTES);
  }

  /** Writes the facts of a file; all times and owners are 0. */
  void write(GuestMemory memory, long address, int fileMode, long number, long fileSize) {
    // Zeroed as a whole first: the guest sees no padding of earlier contents.
    memory.write(address, new byte[bytes]);
    inode.write(memory, address, number);
    mode.write(memory, address, fileMode);
    links.write(memory, address, 1);
    size.write(memory, address, fileSize);
    blockSize.write(memory, address, BLOCK_BYTES);
    blocks.write(memory, address, (fileSize + COUNTED_BYTES - 1) / COUNTED_BYTES);
  }
}
