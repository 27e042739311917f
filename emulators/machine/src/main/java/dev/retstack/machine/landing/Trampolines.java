package dev.retstack.machine.landing;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.OptionalInt;

/**
 * Guest code where hijacked returns arrive, one piece per return address: a jump there. A handler
 * slot of the {@link LandingPage} serves any return address. But it continues by an indirect jump,
 * which the engine looks up each time and the host's processor predicts badly. A trampoline always
 * jumps to the same address, so the engine links the two blocks for good.
 *
 * <p>The address does not say which frame exits: nearly always it is the topmost frame with this
 * return address. Records name only handler slots, so they do not depend on trampolines.
 */
public final class Trampolines {
  /** Bytes of guest addresses that are kept free for them. */
  public static final long BYTES = 16L * GuestMemory.PAGE;

  /**
   * Binary logarithm of the bytes from one to the next: each takes a separate entry of the engine's
   * cache for look-ups.
   */
  private static final int SHIFT = 6;

  /**
   * No trampoline stands below this address: a program that follows a null pointer must find
   * nothing there.
   */
  private static final long LOWEST = 0x2_0000;

  private final LandingCode landing;
  private final CodePages pages;
  private final long start;
  private final LongArrayList targets = new LongArrayList();

  private Trampolines(GuestMemory memory, Isa isa, long start) {
    this.landing = isa.landing();
    this.pages = new CodePages(memory, isa, start, SHIFT);
    this.start = start;
  }

  /**
   * Trampolines of a core whose memory is mapped: below the image, from where a jump reaches it on
   * most ISAs, else beside the landing page. Nothing is mapped before the first is made.
   */
  public static Trampolines of(GuestMemory memory, Isa isa, ElfFile image, LandingPage page) {
    long first =
        image.segments().stream().mapToLong(Segment::address).min().orElse(0) & -GuestMemory.PAGE;
    long below = first - BYTES - GuestMemory.PAGE;
    long beside = page.start() + LandingPage.BYTES + GuestMemory.PAGE;
    boolean fits = Long.compareUnsigned(first, LOWEST + BYTES + GuestMemory.PAGE) >= 0;
    long place = fits && !memory.overlaps(below, BYTES) ? below : beside;
    return new Trampolines(memory, isa, memory.overlaps(place, BYTES) ? 0 : place);
  }

  /** Address of the first; 0 where there is no place for any. */
  public long start() {
    return start;
  }

  /** End of the room for trampolines. */
  public long end() {
    return start == 0 ? 0 : start + BYTES;
  }

  /** Binary logarithm of the bytes from one to the next. */
  public int shift() {
    return SHIFT;
  }

  /** True for the addresses whose instructions take no virtual time. */
  public boolean holds(long address) {
    return Long.compareUnsigned(address - start, end() - start) < 0;
  }

  /** Index of the trampoline at an address, or -1. */
  public int indexAt(long address) {
    return holds(address)
            && (address - start) % (1 << SHIFT) == 0
            && (address - start) >> SHIFT < targets.size()
        ? (int) ((address - start) >> SHIFT)
        : -1;
  }

  /** Address of the trampoline of an index. */
  public long address(int index) {
    return pages.address(index);
  }

  /** Where the trampoline of an index continues. */
  public long target(int index) {
    return targets.getLong(index);
  }

  /**
   * Makes a trampoline.
   *
   * @param target where it continues
   * @return its index; empty where no jump reaches the target, or there is no room left
   */
  public OptionalInt add(long target) {
    long at = address(targets.size());
    if (at == end()) {
      return OptionalInt.empty();
    }
    byte[] code = landing.trampoline().code(at, target);
    if (code.length == 0) {
      return OptionalInt.empty();
    }
    pages.add(targets.size(), code);
    targets.add(target);
    return OptionalInt.of(targets.size() - 1);
  }
}
