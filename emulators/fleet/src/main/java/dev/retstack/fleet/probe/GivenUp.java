package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.GuestAccessException;
import dev.retstack.fleet.core.GuestMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/**
 * Frames that were taken for dead. Most are: a longjmp left them. But where a stack lies inside of
 * a frame of another stack addresses cannot tell, and what was dead returns. So they are kept, by
 * their slots, and no return address is lost: a frame is forgotten only when its slot was hijacked
 * again, when there are many and the slot holds something else, or when there are too many and the
 * true return address was put back into the slot.
 */
final class GivenUp {
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
   * @param fromPc where it returns to, whoever was tail-called away
   * @param up as {@link EntryPoints#up}
   * @param slot the word in memory that holds the handler; 0 where that is not known
   * @param place where it returns, as the probe numbers it
   * @param convention index of the convention that it was entered by
   * @param task whose it was
   */
  record Frame(
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

    Frame of(long id) {
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
   * Those of a guest.
   *
   * @param handlers addresses of the places
   */
  record GuestSlots(GuestMemory memory, IntToLongFunction handlers) implements Slots {
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

  /** What the registers tell of a return that has just arrived. */
  interface Arrival {
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

    /** True where its slot was looked for already. */
    boolean sought;

    Kept(Frame frame, long age) {
      this.frame = frame;
      this.age = age;
    }
  }

  private final Slots memory;
  private final NavigableMap<Long, Kept> kept = new TreeMap<>(Long::compareUnsigned);

  /** Those of them that tell where they leave the stack pointer, by that. */
  private final Map<Long, Kept> byExit = new HashMap<>();

  private long added;
  private int sweepAt = FIRST_SWEEP;
  private boolean changed;
  private long abandoned;
  private Supplier<long[]> open = () -> new long[0];

  /** None. */
  GivenUp(Slots memory) {
    this.memory = memory;
  }

  boolean isEmpty() {
    return kept.isEmpty();
  }

  int size() {
    return kept.size();
  }

  /**
   * Says which frames are open, as their retp, sorted.
   *
   * @param slots of all contexts
   */
  void among(Supplier<long[]> slots) {
    open = slots;
  }

  /** Frames that were forgotten though they may return yet, since {@link #clearAbandoned}. */
  long abandoned() {
    return abandoned;
  }

  void clearAbandoned() {
    abandoned = 0;
  }

  /** True where there are others than at the last call. */
  boolean takeChange() {
    boolean was = changed;
    changed = false;
    return was;
  }

  /** All, by their slots. */
  Iterable<Frame> all() {
    return () -> kept.values().stream().map(k -> k.frame).iterator();
  }

  /** A frame is taken for dead. Of those that leave the stack pointer at one place one is alive. */
  void add(Frame frame) {
    remove(kept.get(frame.retP()));
    remove(frame.up() > 0 ? byExit.get(frame.exit()) : null);
    keep(new Kept(frame, added++));
    if (kept.size() >= sweepAt) {
      sweep();
    }
  }

  private void keep(Kept k) {
    kept.put(k.frame.retP(), k);
    if (k.frame.up() > 0) {
      byExit.put(k.frame.exit(), k);
    }
    changed = true;
  }

  private void remove(Kept k) {
    if (k != null) {
      kept.remove(k.frame.retP(), k);
      byExit.remove(k.frame.exit(), k);
      changed = true;
    }
  }

  private void sweep() {
    long[] openSlots = open.get();
    for (Kept k : List.copyOf(kept.values())) {
      seek(k, openSlots);
      if (!holds(k.frame)) {
        remove(k);
      }
    }
    int most = MOST / 2;
    if (kept.size() > most) {
      List<Kept> oldest = new ArrayList<>(kept.values());
      oldest.sort(Comparator.comparingLong(k -> k.age));
      for (Kept over : oldest.subList(0, oldest.size() - most)) {
        if (over.frame.slot() != 0) {
          memory.restore(over.frame.slot(), over.frame.place(), over.frame.fromPc());
        }
        remove(over);
        abandoned++;
      }
    }
    sweepAt = Math.clamp(2L * kept.size(), FIRST_SWEEP, MOST);
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
    for (Kept below : kept.subMap(low, false, high, false).descendingMap().values()) {
      if (below.frame.place() == k.frame.place()) {
        low = below.frame.retP();
        break;
      }
    }
    k.frame = k.frame.savedIn(memory.find(k.frame.place(), low, high));
  }

  /** True where its slot holds the handler, or is not known. */
  private boolean holds(Frame frame) {
    return frame.slot() == 0 || memory.holds(frame.slot(), frame.place());
  }

  void remove(Frame frame) {
    remove(kept.get(frame.retP()));
  }

  /** True where one returns through a place whose slot lies between two addresses. */
  boolean isBetween(int place, long below, long above) {
    return !kept.isEmpty()
        && Long.compareUnsigned(below, above) < 0
        && kept.subMap(below, false, above, false).values().stream()
            .anyMatch(k -> k.frame.place() == place);
  }

  /** The frame that returns through a place and leaves the stack pointer there; null: none. */
  Frame leaving(int place, long exit) {
    Kept k = kept.get(exit);
    if (k == null || k.frame.up() > 0 || k.frame.place() != place) {
      k = byExit.get(exit);
    }
    return k == null || k.frame.place() != place ? null : k.frame;
  }

  /**
   * The frame that returns through a place, where it is one of these: the one that the registers
   * foretell, else the nearest below `above` whose slot still holds the handler, else the nearest.
   *
   * @return null where there is none
   */
  Frame find(int place, long above, Arrival arrival) {
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
    for (Kept k : kept.headMap(above, false).descendingMap().values()) {
      if (k.frame.place() == place) {
        if (holds(k.frame)) {
          return k.frame;
        }
        nearest = nearest == null ? k.frame : nearest;
      }
    }
    return nearest;
  }

  /** True where an open frame returns, and not the one of these that {@link #find} has found. */
  boolean isOther(Frame found, long openSelf, long openRetP, int openConvention, Arrival arrival) {
    boolean holds = holds(found);
    boolean foretold = arrival.foretells(openConvention, openSelf, openRetP);
    if (!foretold && holds && arrival.foretells(found.convention(), found.selfPc(), found.retP())) {
      return false;
    }
    boolean isNearer = Long.compareUnsigned(found.retP(), openRetP) > 0;
    boolean isOther = foretold || !holds || !isNearer || arrival.isFrom(openSelf);
    Kept k = kept.get(found.retP());
    // it lies in the frame of a function that has returned
    if (isOther && isNearer && ++k.doubts == DOUBTS_MOST) {
      remove(found);
    }
    return isOther;
  }
}
