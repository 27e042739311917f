package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.SyscallAbi;
import java.util.Map;

/**
 * {@code struct stat} of 64-bit Linux. Common to all: dev at 0, ino at 8, size at 48, blksize at
 * 56, blocks at 64, times from 72 on.
 *
 * @param bytes size of the structure
 * @param modeAt offset of st_mode, 4 bytes
 * @param linksAt offset of st_nlink
 * @param wideLinks true where st_nlink has 8 bytes, else 4
 * @param rdevAt offset of st_rdev, 8 bytes
 */
record StatLayout(int bytes, int modeAt, int linksAt, boolean wideLinks, int rdevAt) {
  private static final int BLOCK_BYTES = 4096;

  private static final Map<SyscallAbi.Numbers, StatLayout> LAYOUTS =
      Map.of(
          // arch/x86/include/uapi/asm/stat.h
          SyscallAbi.Numbers.X86_64, new StatLayout(144, 24, 16, true, 40),
          // include/uapi/asm-generic/stat.h
          SyscallAbi.Numbers.GENERIC, new StatLayout(128, 16, 20, false, 32));

  static StatLayout of(SyscallAbi.Numbers numbers) {
    return LAYOUTS.getOrDefault(numbers, LAYOUTS.get(SyscallAbi.Numbers.GENERIC));
  }

  /** Writes the facts of a file; all times and owners are 0. */
  void write(GuestMemory memory, long address, int mode, long inode, long size) {
    // Zeroed as a whole first: the guest sees no padding of earlier contents.
    memory.write(address, new byte[bytes]);
    memory.writeLong(address + 8, inode);
    memory.writeInt(address + modeAt, mode);
    if (wideLinks) {
      memory.writeLong(address + linksAt, 1);
    } else {
      memory.writeInt(address + linksAt, 1);
    }
    memory.writeLong(address + rdevAt, 0);
    memory.writeLong(address + 48, size);
    memory.writeInt(address + 56, BLOCK_BYTES);
    memory.writeLong(address + 64, (size + 511) / 512);
  }
}
