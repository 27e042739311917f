package dev.retstack.machine.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.retstack.unicorn.library.HostPages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A run of mapped guest pages with one piece of host memory behind it. Addresses are unsigned. */
final class Region {
  final long start;
  final long size;
  final MemorySegment host;
  private final Backing backing;

  private Region(long start, long size, Backing backing) {
    this.start = start;
    this.size = size;
    this.host = backing.host.asSlice(start - backing.start, size);
    this.backing = backing;
    backing.users++;
  }

  static Region allocate(long start, long size, int perms) {
    Arena arena = Arena.ofShared();
    MemorySegment pages = MemorySegment.ofArray(new byte[Math.toIntExact(size / GuestMemory.PAGE)]);
    Backing backing = new Backing(start, HostPages.allocate(size, arena), pages, arena);
    return backing.region(start, size, perms);
  }

  /** The part {@code [from, to)} of this region on the same host memory. */
  Region part(long from, long to) {
    return new Region(from, to - from, backing);
  }

  /** True where it is memory of a reserve. */
  boolean isOf(Backing reserve) {
    return backing == reserve;
  }

  /** End of the region: one past its last byte; 0 where it ends with the address space. */
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
    return backing.permissions(backing.page(address));
  }

  /** Gives the pages of a range within this region permissions. */
  void protect(long from, long to, int perms) {
    backing.set(from, to - from, perms);
  }

  /** True when a page of a range within this region is executable. */
  boolean holdsCode(long address, long bytes) {
    long lastPage = backing.page(address + bytes - 1);
    for (long page = backing.page(address); page <= lastPage; page++) {
      if ((backing.permissions(page) & GuestMemory.EXECUTE) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Between how many neighbours permissions change, at least one of which is in a range. */
  int seams(long from, long to) {
    long first = Math.max(backing.page(from), backing.page(start) + 1);
    long last = Math.min(backing.page(to - 1) + 1, backing.page(end() - 1));
    int seams = 0;
    for (long page = first; page <= last; page++) {
      seams += backing.permissions(page - 1) == backing.permissions(page) ? 0 : 1;
    }
    return seams;
  }

  /** How many of the two neighbours of a range have other permissions than some. */
  int edges(long from, long to, int perms) {
    return (from != start && permissionsAt(from - 1) != perms ? 1 : 0)
        + (to != end() && permissionsAt(to) != perms ? 1 : 0);
  }

  void release() {
    backing.release();
  }

  /** Host memory: of the parts that an unmap left over, or of all mappings in a reserved range. */
  static final class Backing {
    /** A page that is mapped, beside its permissions. */
    private static final int MAPPED = 0x80;

    final long start;
    final MemorySegment host;

    /** A byte for each page; 0: nothing is mapped there. */
    final MemorySegment pages;

    private final Arena arena;
    private int users;

    private Backing(long start, MemorySegment host, MemorySegment pages, Arena arena) {
      this.start = start;
      this.host = host;
      this.pages = pages;
      this.arena = arena;
    }

    /** Host memory for mappings to come; empty where the host has no room. */
    static Optional<Backing> reserve(long start, long size) {
      Arena arena = Arena.ofShared();
      Optional<MemorySegment> host = HostPages.reserve(size, arena);
      if (host.isEmpty()) {
        arena.close();
        return Optional.empty();
      }
      MemorySegment pages = HostPages.allocate(size / GuestMemory.PAGE, arena);
      Backing reserve = new Backing(start, host.get(), pages, arena);
      reserve.users++; // until the memory ends
      return Optional.of(reserve);
    }

    Region region(long address, long size, int perms) {
      set(address, size, perms);
      return new Region(address, size, this);
    }

    boolean contains(long address) {
      return Long.compareUnsigned(address - start, host.byteSize()) < 0;
    }

    /** Pages of a reserve that nothing is mapped at any more. */
    void forget(long address, long size) {
      pages.asSlice(page(address), size >>> GuestMemory.PAGE_BITS).fill((byte) 0);
      HostPages.forget(host.asSlice(address - start, size));
    }

    void release() {
      if (--users == 0) {
        arena.close();
      }
    }

    private void set(long address, long size, int perms) {
      pages.asSlice(page(address), size >>> GuestMemory.PAGE_BITS).fill((byte) (perms | MAPPED));
    }

    private long page(long address) {
      return (address - start) >>> GuestMemory.PAGE_BITS;
    }

    private int permissions(long page) {
      return pages.get(JAVA_BYTE, page) & (MAPPED - 1);
    }
  }
}
