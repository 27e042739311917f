package dev.retstack.unicorn.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Memory of the host for guests, to map with {@code Unicorn.mem_map_ptr}: zeroed, and a page takes
 * room only when it is touched. So a fleet of cores with stacks of megabytes uses little of it.
 */
public final class HostPages {
  private static final int PAGE = 4096;

  private static final int PROT_READ_WRITE = 3;

  /** Linux: MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE. */
  private static final int PRIVATE_LAZY = 0x4022;

  private static final long FAILED = -1;

  private static final MethodHandle MMAP =
      onLinux()
          ? UnicornLibrary.standard(
              "mmap",
              FunctionDescriptor.of(
                  JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG))
          : null;

  private static final MethodHandle MUNMAP =
      onLinux()
          ? UnicornLibrary.standard("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG))
          : null;

  private static final MethodHandle MADVISE =
      onLinux()
          ? UnicornLibrary.standard(
              "madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT))
          : null;

  /** Linux: MADV_DONTNEED. */
  private static final int FORGET = 4;

  private HostPages() {}

  private static boolean onLinux() {
    return System.getProperty("os.name").equals("Linux");
  }

  /**
   * Allocates pages; on another system than Linux they take room at once.
   *
   * @param size bytes
   * @param arena their life
   * @throws OutOfMemoryError where there is no room
   */
  public static MemorySegment allocate(long size, Arena arena) {
    return reserve(size, arena).orElseGet(() -> arena.allocate(size, PAGE));
  }

  /**
   * Pages that are mostly never touched: addresses to choose from.
   *
   * @return empty where the host has no room, or cannot keep addresses without memory
   */
  public static Optional<MemorySegment> reserve(long size, Arena arena) {
    long address = onLinux() ? map(size) : FAILED;
    return address == FAILED
        ? Optional.empty()
        : Optional.of(UnicornLibrary.view(address, size, arena, HostPages::unmap));
  }

  /** Gives the room of reserved pages back: they are zeroes again. */
  public static void forget(MemorySegment pages) {
    try {
      int failed = (int) MADVISE.invokeExact(pages.address(), pages.byteSize(), FORGET);
      if (failed != 0) {
        pages.fill((byte) 0); // locked memory, which the host keeps
      }
    } catch (Throwable t) {
      throw new IllegalStateException("madvise of " + pages, t);
    }
  }

  private static long map(long size) {
    try {
      return (long) MMAP.invokeExact(0L, size, PROT_READ_WRITE, PRIVATE_LAZY, -1, 0L);
    } catch (Throwable t) {
      throw new IllegalStateException("mmap of " + size + " bytes", t);
    }
  }

  private static void unmap(MemorySegment pages) {
    try {
      int failed = (int) MUNMAP.invokeExact(pages.address(), pages.byteSize());
      if (failed != 0) {
        throw new IllegalStateException("munmap of " + pages + " refused");
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException("munmap of " + pages, t);
    }
  }
}
