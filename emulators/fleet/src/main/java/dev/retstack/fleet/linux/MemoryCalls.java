package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.memory.GuestMemory;
import java.util.Map;
import java.util.function.Consumer;

/** System calls on memory. */
final class MemoryCalls {
  private static final long PROTECTION_BITS = 7;
  private static final long MAP_FIXED = 0x10;
  private static final long MAP_FIXED_NOREPLACE = 0x10_0000;
  private static final long MREMAP_MAYMOVE = 1;

  private static final int MMAP_ARGUMENTS = 6;

  private final AddressSpace space;
  private final GuestMemory memory;
  private final long anonymous;
  private final Consumer<String> refused;

  /**
   * @param anonymous {@code MAP_ANONYMOUS}
   * @param refused told what the program asked for in vain
   */
  MemoryCalls(AddressSpace space, GuestMemory memory, long anonymous, Consumer<String> refused) {
    this.space = space;
    this.memory = memory;
    this.anonymous = anonymous;
    this.refused = refused;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("brk", a -> space.setBreak(a[0]));
    calls.put("mmap", this::map);
    // the last argument counts pages, not bytes: only files have an offset
    calls.put("mmap2", this::map);
    calls.put("old_mmap", a -> map(words(a[0])));
    calls.put("munmap", this::unmap);
    calls.put("mprotect", this::protect);
    calls.put("mremap", this::remap);
    calls.put("madvise", a -> 0);
    calls.put("cacheflush", a -> 0);
    calls.put("riscv_flush_icache", a -> 0);
  }

  /** The arguments of {@code old_mmap}: it passes one pointer to all of them. */
  private long[] words(long address) {
    long[] words = new long[MMAP_ARGUMENTS];
    for (int i = 0; i < words.length; i++) {
      words[i] = memory.readWord(address + (long) i * memory.wordBytes());
    }
    return words;
  }

  private long map(long[] a) {
    long flags = a[3];
    if ((flags & anonymous) == 0) {
      refused.accept("mmap of a file");
      throw new SystemCallException(Errno.ENODEV);
    }
    int permissions = permissions(a[2]);
    if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
      return space.mapFixed(a[0], a[1], permissions, (flags & MAP_FIXED_NOREPLACE) == 0);
    }
    return space.map(a[1], permissions);
  }

  private long unmap(long[] a) {
    space.unmap(a[0], a[1]);
    return 0;
  }

  private long protect(long[] a) {
    space.protect(a[0], a[1], permissions(a[2]));
    return 0;
  }

  private long remap(long[] a) {
    if ((a[3] & ~MREMAP_MAYMOVE) != 0) {
      refused.accept("mremap to a fixed address");
      throw new SystemCallException(Errno.EINVAL);
    }
    return space.resize(a[0], a[1], a[2], (a[3] & MREMAP_MAYMOVE) != 0);
  }

  /** PROT_READ, PROT_WRITE and PROT_EXEC have the bits of guest memory. */
  private static int permissions(long protection) {
    if ((protection & ~PROTECTION_BITS) != 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return (int) protection;
  }
}
