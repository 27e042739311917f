package dev.retstack.fleet.memory;

import dev.retstack.unicorn.library.HostPages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** A run of mapped guest pages with one piece of host memory behind it. Addresses are unsigned. */
final class Region {
  final long start;
  final long size;
  final MemorySegment host;

  /** Permissions of each page, {@code GuestMemory.READ | WRITE | EXECUTE}. */
  final byte[] permissions;

  private final Backing backing;

  private Region(long start, MemorySegment host, byte[] permissions, Backing backing) {
    this.start = start;
    this.size = host.byteSize();
    this.host = host;
    this.permissions = permissions;
    this.backing = backing;
    backing.users++;
  }

  static Region allocate(long start, long size, int perms) {
    Backing backing = new Backing(Arena.ofShared());
    byte[] permissions = new byte[Math.toIntExact(size / GuestMemory.PAGE)];
    Arrays.fill(permissions, (byte) perms);
    MemorySegment host = HostPages.allocate(size, backing.arena);
    return new Region(start, host, permissions, backing);
  }

  /** The part {@code [from, to)} of this region on the same host memory. */
  Region part(long from, long to) {
    int firstPage = (int) ((from - start) / GuestMemory.PAGE);
    int endPage = (int) ((to - start) / GuestMemory.PAGE);
    return new Region(
        from,
        host.asSlice(from - start, to - from),
        Arrays.copyOfRange(permissions, firstPage, endPage),
        backing);
  }

  /** One past the last byte; 0 for a region that ends with the address space. */
  long end() {
    return start + size;
  }

  boolean contains(long address) {
    return Long.compareUnsigned(address - start, size) < 0;
  }

  /**
   * Refuses what no mapping can be.
   *
   * @throws IllegalArgumentException saying why
   */
  static void checkPages(long address, long size) {
    if (address % GuestMemory.PAGE != 0
        || size % GuestMemory.PAGE != 0
        || size <= 0
        || size > GuestMemory.MAX_MAPPING_BYTES) {
      throw new IllegalArgumentException(
          "guest memory [0x%x, +0x%x): whole pages, at most 0x%x bytes"
              .formatted(address, size, GuestMemory.MAX_MAPPING_BYTES));
    }
    if (Long.compareUnsigned(address + size - 1, address) < 0) {
      throw new IllegalArgumentException(
          "guest memory [0x%x, +0x%x) wraps around".formatted(address, size));
    }
  }

  /** The host memory behind a range of it. */
  MemorySegment hostOf(long address, long bytes) {
    return host.asSlice(address - start, bytes);
  }

  /** True where a range that is not empty has bytes of this region. */
  boolean intersects(long address, long bytes) {
    return contains(address) || Long.compareUnsigned(start - address, bytes) < 0;
  }

  /** Where this region's share of a range begins that begins at {@code address}. */
  long from(long address) {
    return Long.compareUnsigned(address, start) >= 0 ? address : start;
  }

  /** Where it ends, for a range that ends at {@code end}; 0: with the address space. */
  long to(long end) {
    return Long.compareUnsigned(end - 1, end() - 1) <= 0 ? end : end();
  }

  int permissionsAt(long address) {
    return permissions[(int) ((address - start) >>> GuestMemory.PAGE_BITS)];
  }

  /** True when a page of a range within this region is executable. */
  boolean holdsCode(long address, long bytes) {
    int page = (int) ((address - start) >>> GuestMemory.PAGE_BITS);
    int lastPage = (int) ((address - start + bytes - 1) >>> GuestMemory.PAGE_BITS);
    for (; page <= lastPage; page++) {
      if ((permissions[page] & GuestMemory.EXECUTE) != 0) {
        return true;
      }
    }
    return false;
  }

  void release() {
    if (--backing.users == 0) {
      backing.arena.close();
    }
  }

  /** Host memory shared by the parts that an unmap left over. */
  private static final class Backing {
    final Arena arena;
    int users;

    Backing(Arena arena) {
      this.arena = arena;
    }
  }
}
