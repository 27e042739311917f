package dev.retstack.machine.landing;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.Long2IntMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;

/**
 * Places where hijacked returns arrive, one per return address. A handler slot of the {@link
 * LandingPage} says only at which depth the returning frame is. If that frame was forgotten, the
 * slot does not say where the program continues. A home says it by itself, even if the program has
 * copied the word that leads there.
 *
 * <p>A home continues at the address in a word that the host writes, as handler slots do. Nothing
 * is mapped before the first home is made.
 */
public final class Homes {
  /** Most there can be. */
  public static final int MOST = 1 << 11;

  /** Binary logarithm of the bytes from one to the next. */
  public static final int SHIFT = 5;

  /** Bytes of guest addresses that are kept free for them. */
  public static final long BYTES = (long) MOST << SHIFT;

  /** No home. */
  public static final int NONE = -1;

  private final GuestMemory memory;
  private final LandingCode landing;
  private final CodePages pages;
  private final long start;
  private final long tail;
  private final long mailbox;
  private final LongArrayList targets = new LongArrayList();
  private final Long2IntMap byTarget = new Long2IntOpenHashMap();

  /** Homes of a landing page, from an address on. */
  Homes(GuestMemory memory, Isa isa, long start, long tail, long mailbox) {
    this.memory = memory;
    this.landing = isa.landing();
    this.pages = new CodePages(memory, isa, start, SHIFT);
    this.start = start;
    this.tail = tail;
    this.mailbox = mailbox;
    byTarget.defaultReturnValue(NONE);
  }

  /** Address of the first, whether it was made or not. */
  public long start() {
    return start;
  }

  /** End of the room for homes: the handler slots begin there. */
  public long end() {
    return start + BYTES;
  }

  /** True for the addresses whose instructions take no virtual time. */
  boolean holds(long address) {
    return Long.compareUnsigned(address - start, BYTES) < 0 && !targets.isEmpty();
  }

  /** Index of the home at an address; {@link #NONE} where none was made. */
  public int indexAt(long address) {
    long offset = address - start;
    return Long.compareUnsigned(offset, (long) targets.size() << SHIFT) < 0
        ? (int) (offset >> SHIFT)
        : NONE;
  }

  /** Address of a home. */
  public long address(int index) {
    return pages.address(index);
  }

  /** The return address that a home is of. */
  public long target(int index) {
    return targets.getLong(index);
  }

  /** Address of the word that says where a home continues. */
  long word(int index) {
    return landing.homeWord() == 0 ? mailbox : address(index) + landing.homeWord();
  }

  /**
   * The home of a return address; makes it where there is none yet.
   *
   * @return its index; {@link #NONE} where there is no room left
   */
  public int of(long target) {
    int known = byTarget.get(target);
    if (known != NONE) {
      return known;
    }
    int index = targets.size();
    if (index == MOST || (index == 0 && memory.overlaps(start, BYTES))) {
      return NONE;
    }
    pages.add(index, landing.slot().code(address(index), tail, word(index)));
    targets.add(target);
    byTarget.put(target, index);
    return index;
  }
}
