package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.CallRegisters;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.memory.GuestMemory;

/**
 * The segments that a program of i386 may ask for ({@code set_thread_area}). They are in a table
 * that the processor reads when the program loads a selector. Source: Intel SDM volume 3, 3.4.5
 * "Segment Descriptors"; {@code struct user_desc} of {@code asm/ldt.h}.
 */
final class SegmentDescriptors {
  /** Linux keeps entries 6 to 8 of its table for programs. */
  private static final int FIRST = 6;

  private static final int COUNT = 3;
  private static final int ANY = -1;

  /** Linux's own entry for data, which the stack of a program without privileges is given, too. */
  private static final int KERNEL_DATA = 13;

  /** From 0 to 4 GiB, 32-bit, privilege 0, writable, accessed already. */
  private static final long FLAT_DATA = 0x00CF_9300_0000_FFFFL;

  /** Fields of {@code user_desc}: entry_number, base_addr, limit, flags, 4 bytes each. */
  private static final int BASE = 4;

  private static final int LIMIT = 8;
  private static final int FLAGS = 12;

  private static final int READ_ONLY = 1 << 3;
  private static final int NOT_PRESENT = 1 << 5;

  /** Present, privilege 3, a code or data segment, accessed already: nothing writes the table. */
  private static final int ATTRIBUTES = 0xF1;

  private final GuestMemory memory;
  private final long table;

  /**
   * @param table address of the page of descriptors
   */
  SegmentDescriptors(GuestMemory memory, long table) {
    this.memory = memory;
    this.table = table;
    memory.map(table, GuestMemory.PAGE, GuestMemory.READ);
    memory.writeLong(at(KERNEL_DATA), FLAT_DATA);
  }

  /** Sets the segment that a {@code user_desc} describes, and says in it which entry it is. */
  long set(long description) {
    int entry = memory.readInt(description);
    int base = memory.readInt(description + BASE);
    int limit = memory.readInt(description + LIMIT);
    int flags = memory.readInt(description + FLAGS);
    if (entry == ANY) {
      entry = free();
      memory.writeInt(description, entry);
    }
    if (entry < FIRST || entry >= FIRST + COUNT) {
      throw new SystemCallException(Errno.EINVAL);
    }
    memory.writeLong(at(entry), (flags & NOT_PRESENT) != 0 ? 0 : encode(base, limit, flags));
    return 0;
  }

  /** Where the segment lies that a {@code user_desc} describes. */
  static long base(GuestMemory memory, long description) {
    return Integer.toUnsignedLong(memory.readInt(description + BASE));
  }

  private int free() {
    for (int entry = FIRST; entry < FIRST + COUNT; entry++) {
      if (memory.readLong(at(entry)) == 0) {
        return entry;
      }
    }
    throw new SystemCallException(Errno.ESRCH);
  }

  private long at(int entry) {
    return table + (long) entry * Long.BYTES;
  }

  /** Base and limit are scattered over a descriptor for the sake of the 80286. */
  private static long encode(int base, int limit, int flags) {
    int contents = (flags >> 1) & 3;
    int type = ATTRIBUTES | ((flags & READ_ONLY) != 0 ? 0 : 2) | (contents << 2);
    int wide = flags & 1;
    int inPages = (flags >> 4) & 1;
    int low = (base << 16) | (limit & 0xFFFF);
    int high =
        (base & 0xFF00_0000)
            | (inPages << 23)
            | (wide << 22)
            | (limit & 0xF_0000)
            | (type << 8)
            | ((base >>> 16) & 0xFF);
    return CallRegisters.join(high, low);
  }
}
