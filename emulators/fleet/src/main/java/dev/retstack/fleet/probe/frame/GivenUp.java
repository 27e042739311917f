package dev.retstack.fleet.probe.frame;

import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Frames that were taken for dead. Most are dead: a longjmp left them. But a stack may lie in a
 * frame of another stack, or be copied away and back; then a frame that was taken for dead returns.
 * So these frames are kept, by the place where they return and by their slots.
 *
 * <p>While any is kept, each new frame returns at a home ({@link LandingPage#homes}), which leads
 * to its return address even if the frame was forgotten. So only frames that return at a handler
 * slot must be kept for the program's sake. They are few: those that were open when the first frame
 * was taken for dead.
 */
public final class GivenUp {
  /** Most frames that are kept. */
  static final int MOST = 1 << 14;

  private static final int FIRST_SWEEP = 1 << 10;

  /** Bytes below the stack pointer at entry in which a return address is saved, at most. */
  private static final long SAVED_WITHIN = 16 * 1024L;

  /** How often a frame may stand in the way of the exit of another before it is gone. */
  private static final int DOUBTS_MOST = 8;

  /**
   * A frame that may return yet.
   *
   * @param fromPc where it returns to, behind all tail calls
   * @param up as {@code EntryPoints.up}
   * @param slot the word in memory that holds the handler; 0 where that is not known
   * @param place where it returns, as the probe numbers it
   * @param convention index of the convention that it was entered by
   * @param task whose it was
   */
  public record Frame(
      long selfPc,
      long fromPc,
      long retP,
      long up,
      long slot,
      int place,
      int convention,
      long task) {

    /**
     * Where it leaves the stack pointer, up to what all frames of its convention have in common.
     */
    long exit() {
      return retP + up;
    }

    public Frame of(long id) {
      return new Frame(selfPc, fromPc, retP, up, slot, place, convention, id);
    }

    Frame savedIn(long word) {
      return new Frame(selfPc, fromPc, retP, up, word, place, convention, task);
    }
  }

  /** The words that hold return addresses. */
  interface Slots {
    /** True where a slot holds the handler of a place. */
    boolean holds(long slot, int place);

    /** Puts a return address back where a slot holds the handler of a place. */
    void restore(long slot, int place, long fromPc);

    /** The highest word from one address up to below another that holds a handler; 0: none. */
    long find(int place, long low, long high);
  }

  /**
   * The slots of a guest.
   *
   * @param handlers addresses of the places
   */
  public record GuestSlots(GuestMemory memory, IntToLongFunction handlers) implements Slots {
    @Override
    public boolean holds(long slot, int place) {
      try {
        return memory.readWord(slot) == handlers.applyAsLong(place);
      } catch (GuestAccessException gone) {
        return false;
      }
    }

    @Override
    public void restore(long slot, int place, long fromPc) {
      if (holds(slot, place)) {
        memory.writeWord(slot, fromPc);
      }
    }

    @Override
    public long find(int place, long low, long high) {
      long handler = handlers.applyAsLong(place);
      try {
        for (long at = high - memory.wordBytes(); at - low >= 0; at -= memory.wordBytes()) {
          if (memory.readWord(at) == handler) {
            return at;
          }
        }
      } catch (GuestAccessException noStackThere) {
        // the frame is of less than was searched
      }
      return 0;
    }
  }

  /** What the registers show of a return that has just arrived. */
  public interface Arrival {
    /**
     * Where frames that {@link #foretells} is true of leave the stack pointer, as {@link
     * Frame#exit}.
     */
    long[] exits();

    /** True where the frame of a function with this retp must be what returns. */
    boolean foretells(int convention, long selfPc, long retP);

    /** True where the code that ran last is of a function. */
    boolean isFrom(long selfPc);
  }

  private static final class Kept {
    Frame frame;
    final long age;
    int doubts;

    /** True where its slot held something else at the last look. */
    boolean overwritten;

    /** True where its slot was looked for already. */
    boolean sought;

    Kept(Frame frame, long age) {
      this.frame = frame;
      this.age = age;
    }

    boolean isAtHome() {
      return frame.place() >= LandingPage.SLOTS;
    }
  }

  private final Slots memory;

  /** Those that return at one place. A slot may be another's who returns elsewhere. */
  private static final class Place {
    final NavigableMap<Long, Kept> bySlot = new TreeMap<>(Long::compareUnsigned);

    /** Those of them whose stack pointer at exit is known, by that. */
    final Map<Long, Kept> byExit = new HashMap<>();
  }

  private static final Place NOWHERE = new Place();

  private final Int2ObjectMap<Place> places = new Int2ObjectOpenHashMap<>();
  private int size;
  private long added;
  private int sweepAt = FIRST_SWEEP;
  private boolean changed;
  private long abandoned;
  private Supplier<long[]> open = () -> new long[0];

  /** None. */
  public GivenUp(Slots memory) {
    this.memory = memory;
  }

  public boolean isEmpty() {
    return size == 0;
  }

  public int size() {
    return size;
  }

  private Place at(int place) {
    return places.getOrDefault(place, NOWHERE);
  }

  private Stream<Kept> kept() {
    return places.values().stream().flatMap(place -> place.bySlot.values().stream());
  }

  /**
   * Says which frames are open, as their retp, sorted.
   *
   * @param slots of all contexts
   */
  public void among(Supplier<long[]> slots) {
    open = slots;
  }

  /** Frames that were forgotten though they may return yet, since {@link #clearAbandoned}. */
  public long abandoned() {
    return abandoned;
  }

  public void clearAbandoned() {
    abandoned = 0;
  }

  /** True where there are others than at the last call. */
  public boolean takeChange() {
    boolean was = changed;
    changed = false;
    return was;
  }

  /** All, by their slots. */
  public List<Frame> all() {
    return kept()
        .map(k -> k.frame)
        .sorted((one, other) -> Long.compareUnsigned(one.retP(), other.retP()))
        .toList();
  }

  /**
   * A frame is taken for dead. Of those that return at one place and leave the stack pointer at one
   * place one is alive.
   */
  public void add(Frame frame) {
    Place place = places.computeIfAbsent(frame.place(), _ -> new Place());
    remove(place.bySlot.get(frame.retP()));
    remove(frame.up() > 0 ? place.byExit.get(frame.exit()) : null);
    Kept k = new Kept(frame, added++);
    place = places.computeIfAbsent(frame.place(), _ -> new Place());
    place.bySlot.put(frame.retP(), k);
    if (frame.up() > 0) {
      place.byExit.put(frame.exit(), k);
    }
    size++;
    changed = true;
    if (size >= sweepAt) {
      sweep();
    }
  }

  private void remove(Kept k) {
    if (k != null && at(k.frame.place()).bySlot.remove(k.frame.retP(), k)) {
      Place place = at(k.frame.place());
      place.byExit.remove(k.frame.exit(), k);
      if (place.bySlot.isEmpty()) {
        places.remove(k.frame.place());
      }
      size--;
      changed = true;
    }
  }

  /**
   * Makes room. One that returns at a home finds its way without being kept. One that does not is
   * kept even where its slot holds something else, since the program may have copied that. Of too
   * many the oldest go, those last whose slot is not known; where it is, and was not overwritten,
   * it holds the true return address then.
   */
  private void sweep() {
    long[] openSlots = open.get();
    for (Kept k : kept().toList()) {
      seek(k, openSlots);
      k.overwritten = !holds(k.frame);
      if (k.isAtHome() && k.overwritten) {
        remove(k);
      }
    }
    int most = MOST / 2;
    if (size > most) {
      kept()
          .sorted(
              Comparator.comparing((Kept k) -> !k.isAtHome() && !k.overwritten)
                  .thenComparing(k -> k.frame.slot() == 0)
                  .thenComparingLong(k -> k.age))
          .limit(size - most)
          .forEach(this::abandon);
    }
    sweepAt = Math.clamp(2L * size, FIRST_SWEEP, MOST);
  }

  private void abandon(Kept k) {
    if (k.frame.slot() != 0) {
      memory.restore(k.frame.slot(), k.frame.place(), k.frame.fromPc());
    }
    remove(k);
    abandoned++;
  }

  /**
   * What was hijacked was a register: the function has saved it since, in its frame. That ends
   * where the next frame begins; of those that were given up only one with the same handler could
   * be mistaken for it.
   */
  private void seek(Kept k, long[] openSlots) {
    if (k.frame.slot() != 0 || k.sought) {
      return;
    }
    k.sought = true;
    long high = k.frame.retP();
    long low = Long.compareUnsigned(high, SAVED_WITHIN) < 0 ? 0 : high - SAVED_WITHIN;
    int next = Arrays.binarySearch(openSlots, high);
    next = next < 0 ? -next - 2 : next - 1;
    if (next >= 0 && openSlots[next] - low > 0) {
      low = openSlots[next];
    }
    Long below = at(k.frame.place()).bySlot.lowerKey(high);
    if (below != null && Long.compareUnsigned(below, low) > 0) {
      low = below;
    }
    k.frame = k.frame.savedIn(memory.find(k.frame.place(), low, high));
  }

  /** True where its slot holds the handler, or is not known. */
  private boolean holds(Frame frame) {
    return frame.slot() == 0 || memory.holds(frame.slot(), frame.place());
  }

  public void remove(Frame frame) {
    remove(at(frame.place()).bySlot.get(frame.retP()));
  }

  /** True where one returns through a place whose slot lies between two addresses. */
  public boolean isBetween(int place, long below, long above) {
    Long nearest = at(place).bySlot.lowerKey(above);
    return nearest != null && Long.compareUnsigned(nearest, below) > 0;
  }

  /** The frame that returns through a place and leaves the stack pointer there; null: none. */
  public Frame leaving(int place, long exit) {
    Kept k = at(place).bySlot.get(exit);
    if (k == null || k.frame.up() > 0) {
      k = at(place).byExit.get(exit);
    }
    return k == null ? null : k.frame;
  }

  /**
   * The frame that returns through a place, where it is one of these: the one that the registers
   * predict, else the nearest below `above` whose slot still holds the handler, else the nearest.
   *
   * @return null where there is none
   */
  public Frame find(int place, long above, Arrival arrival) {
    Frame foretold = null;
    for (long exit : arrival.exits()) {
      Frame frame = leaving(place, exit);
      if (frame != null
          && Long.compareUnsigned(frame.retP(), above) < 0
          && (foretold == null || Long.compareUnsigned(frame.retP(), foretold.retP()) > 0)
          && holds(frame)
          && arrival.foretells(frame.convention(), frame.selfPc(), frame.retP())) {
        foretold = frame;
      }
    }
    return foretold == null ? nearest(place, above) : foretold;
  }

  private Frame nearest(int place, long above) {
    Frame nearest = null;
    for (Kept k : at(place).bySlot.headMap(above, false).descendingMap().values()) {
      if (holds(k.frame)) {
        return k.frame;
      }
      nearest = nearest == null ? k.frame : nearest;
    }
    return nearest;
  }

  /** True where an open frame returns, and not the one of these that {@link #find} has found. */
  public boolean isOther(
      Frame found, long openSelf, long openRetP, int openConvention, Arrival arrival) {
    boolean holds = holds(found);
    boolean foretold = arrival.foretells(openConvention, openSelf, openRetP);
    if (!foretold && holds && arrival.foretells(found.convention(), found.selfPc(), found.retP())) {
      return false;
    }
    boolean isNearer = Long.compareUnsigned(found.retP(), openRetP) > 0;
    boolean isOther = foretold || !holds || !isNearer || arrival.isFrom(openSelf);
    Kept k = at(found.place()).bySlot.get(found.retP());
    // it lies in the frame of a function that has returned
    if (isOther && isNearer && k.isAtHome() && ++k.doubts == DOUBTS_MOST) {
      remove(found);
    }
    return isOther;
  }
}
