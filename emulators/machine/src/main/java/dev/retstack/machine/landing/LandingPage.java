package dev.retstack.machine.landing;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;

/**
 * The guest page where hijacked returns arrive.
 *
 * <pre>
 *   start     handler slot 0 each continues at the address in the mailbox
 *             ...
 *             handler slot 63
 *   end       tail                  shared code of the slots, where the ISA needs it
 *             self-branches         the rest of the code page
 *   stop        one of them         where a program's outermost return leads; two more for interrupts
 *   start + PAGE
 *             mailbox               a word, written by the host
 * </pre>
 *
 * There are many slots so that the program counter of a return says which frame exits: the frame at
 * ret_stack index {@code d} returns to slot {@code d mod SLOTS}. Below the page lie the {@link
 * Homes}. A place is one of both: the slots come first, then the homes.
 */
public final class LandingPage {
  /** Number of handler slots. */
  public static final int SLOTS = 64;

  /** Bytes of guest memory: a page of code and one for the mailbox. */
  public static final long BYTES = 2L * GuestMemory.PAGE;

  /** Places that there can be; what returns in another way is numbered from here on. */
  public static final int PLACES = SLOTS + Homes.MOST;

  /** Looked for from here downwards: out of the way of what programs are linked to. */
  private static final long HIGHEST = 0x7ffe_0000L;

  private static final int STOP_ALIGNMENT = 64;

  private final GuestMemory memory;
  private final long start;
  private final long end;
  private final long stop;
  private final int shift;
  private final Homes homes;
  private final SeenHandlers seen = new SeenHandlers();

  /** Where the core stops: {@link #stop}, and what was added. */
  private final LongOpenHashSet stops = new LongOpenHashSet();

  private boolean waits;

  private LandingPage(GuestMemory memory, Isa isa, long start) {
    LandingCode code = isa.landing();
    this.memory = memory;
    this.start = start;
    this.end = endOf(start, isa);
    this.shift = Integer.numberOfTrailingZeros(code.stride());
    byte[] tail = code.tail().code(end, mailbox());
    this.stop = (end + tail.length + STOP_ALIGNMENT - 1) & -STOP_ALIGNMENT;
    stops.add(stop);
    memory.map(start, BYTES, GuestMemory.READ | GuestMemory.WRITE);
    byte[] idle = isa.stops().idleLoops().getFirst();
    for (long at = start; at < mailbox(); at += idle.length) {
      memory.write(at, idle);
    }
    for (int i = 0; i < SLOTS; i++) {
      memory.write(slot(i), code.slot().code(slot(i), end, mailbox()));
    }
    memory.write(end, tail);
    memory.protect(start, GuestMemory.PAGE, GuestMemory.READ | GuestMemory.EXECUTE);
    homes = new Homes(memory, isa, start - Homes.BYTES, end, mailbox());
  }

  /**
   * Where the landing page of an image stands: the same for all cores that run it.
   *
   * @param taken ranges that the image occupies
   */
  public static long place(List<Range> taken) {
    long at = HIGHEST;
    boolean moved = true;
    while (moved) {
      moved = false;
      for (Range range : taken) {
        if (range.overlaps(
            at - Homes.BYTES - GuestMemory.PAGE, Homes.BYTES + BYTES + 2L * GuestMemory.PAGE)) {
          at = GuestMemory.pageDown(range.start()) - BYTES - 2L * GuestMemory.PAGE;
          moved = true;
        }
      }
    }
    if (at <= 0) {
      throw new IllegalArgumentException(
          "no room for the landing page below 0x%x: link the image elsewhere".formatted(HIGHEST));
    }
    return at;
  }

  /** End of the handler slots of a landing page at {@code start}. */
  public static long endOf(long start, Isa isa) {
    return start + (long) SLOTS * isa.landing().stride();
  }

  /**
   * A range of guest addresses.
   *
   * @param start first byte
   * @param size bytes
   */
  public record Range(long start, long size) {
    public boolean overlaps(long other, long otherSize) {
      return Long.compareUnsigned(other - start, size) < 0
          || Long.compareUnsigned(start - other, otherSize) < 0;
    }
  }

  /** Writes the landing page into guest memory. */
  public static LandingPage write(GuestMemory memory, Isa isa, long start) {
    return new LandingPage(memory, isa, start);
  }

  /** First handler slot. */
  public long start() {
    return start;
  }

  /** End of the handler slots. */
  public long end() {
    return end;
  }

  /** Where a program that returns from its entry point arrives. */
  public long stopAddress() {
    return stop;
  }

  /** An address that nothing runs into, for the engine's {@code until}. */
  public long unreached() {
    return stop + STOP_ALIGNMENT;
  }

  /** Where the handler of an interrupt returns to. */
  public long interruptReturn() {
    return stop + 2L * STOP_ALIGNMENT;
  }

  /** Where the first function of a task would return to, which has no caller. */
  public long taskReturn() {
    return stop + 3L * STOP_ALIGNMENT;
  }

  /** Before the first run: the core stops before the block at an address. */
  public void stopAt(long address) {
    stops.add(address);
  }

  /** True where the core stops before the block at an address. */
  public boolean stopsAt(long address) {
    return stops.contains(address);
  }

  /**
   * True where a jump to itself is the end of a program. One that is interrupted waits in such a
   * loop.
   */
  public boolean endsInIdleLoop() {
    return stops.size() == 1 && !waits;
  }

  /** From now on the program waits in such loops. */
  public void waitInIdleLoops() {
    waits = true;
  }

  /** Address of handler slot {@code index}. */
  public long slot(int index) {
    return start + ((long) index << shift);
  }

  /** Index of the handler slot at an address, or -1. */
  public int slotAt(long address) {
    long offset = address - start;
    return Long.compareUnsigned(offset, end - start) < 0 ? (int) (offset >> shift) : -1;
  }

  /** Index of the place at an address, or -1. */
  public int placeAt(long address) {
    int slot = slotAt(address);
    int home = slot >= 0 ? Homes.NONE : homes.indexAt(address);
    return home == Homes.NONE ? slot : SLOTS + home;
  }

  /** Address of a place. */
  public long address(int place) {
    return place < SLOTS ? slot(place) : homes.address(place - SLOTS);
  }

  /** Where returns arrive of which nothing else may be known. */
  public Homes homes() {
    return homes;
  }

  /** Which of its addresses the program takes for its own. */
  public SeenHandlers seen() {
    return seen;
  }

  /** Guest addresses that are taken or kept free. */
  public List<Range> ranges() {
    return List.of(new Range(start, BYTES), new Range(homes.start(), Homes.BYTES));
  }

  /** True for the addresses whose instructions take no virtual time. */
  public boolean holds(long address) {
    return Long.compareUnsigned(address - start, GuestMemory.PAGE) < 0 || homes.holds(address);
  }

  /** Sets where the landing code of a place continues. */
  public void goOnAt(int place, long address) {
    memory.writeWord(place < SLOTS ? mailbox() : homes.word(place - SLOTS), address);
  }

  /** Address of the word that says where the landing code continues. */
  public long mailbox() {
    return start + GuestMemory.PAGE;
  }
}
