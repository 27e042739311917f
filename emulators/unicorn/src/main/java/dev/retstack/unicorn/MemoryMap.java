package dev.retstack.unicorn;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** The memory map of one engine. */
final class MemoryMap {
  private static final long PAGE = 4096;

  /** Bytes per downcall: those calls hold up the garbage collector, so they are kept short. */
  private static final long COPY_MAX = 64 << 10;

  private final long uc;

  /** Host memory that is mapped, by guest address, to keep it reachable. */
  private final Map<Long, MemorySegment> mapped = new HashMap<>();

  MemoryMap(long uc) {
    this.uc = uc;
  }

  void map(long address, long size, int perms) {
    UnicornException.check(
        NativeUnicorn.uc_mem_map(uc, address, size, perms), "uc_mem_map", address, size, perms);
  }

  void map(long address, MemorySegment host, int perms) {
    long size = host.byteSize();
    if (!host.isNative() || host.isReadOnly()) {
      throw new IllegalArgumentException("host memory to map must be native and writable");
    }
    if (size == 0 || (size | address | host.address()) % PAGE != 0) {
      throw new IllegalArgumentException(
          "guest 0x%x, host 0x%x, size 0x%x: each must be a multiple of 0x%x, use allocate(size, %d)"
              .formatted(address, host.address(), size, PAGE, PAGE));
    }
    UnicornException.check(
        NativeUnicorn.uc_mem_map_ptr(uc, address, size, perms, host.address()),
        "uc_mem_map_ptr",
        address,
        size,
        perms);
    mapped.put(address, host);
  }

  void unmap(long address, long size) {
    UnicornException.check(
        NativeUnicorn.uc_mem_unmap(uc, address, size), "uc_mem_unmap", address, size);
    MemorySegment host = mapped.get(address);
    if (host != null && host.byteSize() == size) {
      mapped.remove(address); // after a partial unmap the rest is still in use
    }
  }

  void protect(long address, long size, int perms) {
    UnicornException.check(
        NativeUnicorn.uc_mem_protect(uc, address, size, perms),
        "uc_mem_protect",
        address,
        size,
        perms);
  }

  void read(long address, MemorySegment bytes) {
    for (long at = 0; at < bytes.byteSize(); at += COPY_MAX) {
      MemorySegment part = part(bytes, at);
      UnicornException.check(
          NativeUnicorn.uc_mem_read(uc, address + at, part),
          "uc_mem_read",
          address + at,
          part.byteSize());
    }
  }

  void write(long address, MemorySegment bytes) {
    for (long at = 0; at < bytes.byteSize(); at += COPY_MAX) {
      MemorySegment part = part(bytes, at);
      UnicornException.check(
          NativeUnicorn.uc_mem_write(uc, address + at, part),
          "uc_mem_write",
          address + at,
          part.byteSize());
    }
  }

  private static MemorySegment part(MemorySegment bytes, long at) {
    return bytes.asSlice(at, Math.min(COPY_MAX, bytes.byteSize() - at));
  }
}
