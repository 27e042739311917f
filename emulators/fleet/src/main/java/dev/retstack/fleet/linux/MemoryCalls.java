package dev.retstack.fleet.linux;

import java.util.Map;
import java.util.function.Consumer;

/** System calls on memory. */
final class MemoryCalls {
  private static final long PROTECTION_BITS = 7;
  private static final long MAP_FIXED = 0x10;
  private static final long MAP_ANONYMOUS = 0x20;
  private static final long MAP_FIXED_NOREPLACE = 0x10_0000;
  private static final long MREMAP_MAYMOVE = 1;

  private final AddressSpace space;
  private final Consumer<String> refused;

  /**
   * @param refused told what the program asked for in vain
   */
  MemoryCalls(AddressSpace space, Consumer<String> refused) {
    this.space = space;
    this.refused = refused;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("brk", a -> space.setBreak(a[0]));
    calls.put("mmap", this::map);
    calls.put("munmap", this::unmap);
    calls.put("mprotect", this::protect);
    calls.put("mremap", this::remap);
    calls.put("madvise", a -> 0);
  }

  private long map(long[] a) {
    long flags = a[3];
    if ((flags & MAP_ANONYMOUS) == 0) {
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
