package dev.retstack.fleet.probe.unwind;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.unicorn.Unicorn;
import java.util.function.LongPredicate;

/**
 * Finds returns to an address that had overwritten the hijacked one: they never arrive at a
 * handler. Where a block of the program begins and the stack pointer is above the slot of the
 * topmost frame, that frame has been left. Its slot holds the handler still where a longjmp left
 * it, or the stack was switched. Where it holds the very address of the block instead, and the
 * block before was of the frame's own function, the function has returned by it. So it has where
 * that block was of a routine that functions share for their returns. (An unwinder of exceptions on
 * x86 writes where it goes into that place too, but it is another function.)
 *
 * <p>It knows slots in memory. Where the return address was in a register when the function was
 * entered, the function saves it at a place that is not known: nothing is found then, and nothing
 * invented.
 */
public final class SmashedReturns {
  /** No frame. */
  public static final int NONE = -1;

  /** No stack pointer is above this. */
  public static final long UNWATCHED = -1;

  private final Unicorn engine;
  private final GuestMemory memory;
  private final EntryPoints points;
  private final LongPredicate handlers;
  private final CodeAddresses addresses;
  private final int stackPointer;
  private final long wordMask;
  private final long reach;
  private final boolean pushes;

  /** The stack pointer up to which the topmost frame that has not been left is there for sure. */
  private long watched = UNWATCHED;

  /**
   * For one core.
   *
   * @param handlers true for an address that a hijacked slot may hold
   */
  public SmashedReturns(Machine machine, EntryPoints points, LongPredicate handlers) {
    engine = machine.engine();
    memory = machine.memory();
    this.points = points;
    this.handlers = handlers;
    addresses = machine.isa().addresses();
    stackPointer = machine.isa().registers().sp();
    wordMask = machine.wordMask();
    reach = points.slotReach(machine.isa());
    pushes = machine.isa().pushesReturnAddress();
  }

  /** A frame came or went: the topmost one is watched. */
  public void watch(FrameStack frames) {
    watched = frames.size() == 0 ? UNWATCHED : watched(frames, frames.size() - 1);
  }

  private long watched(FrameStack frames, int frame) {
    long slot = frames.slot(frame);
    return slot == 0 ? UNWATCHED : slot - reach;
  }

  /** True where the stack pointer says that the frame that is watched may have been left. */
  public boolean isPassed() {
    return watched != UNWATCHED && isAbove(stackPointer(), watched);
  }

  private long stackPointer() {
    return engine.reg_read(stackPointer) & wordMask;
  }

  private static boolean isAbove(long sp, long mark) {
    return Long.compareUnsigned(sp, mark) > 0;
  }

  /**
   * The frame whose function has just returned by an overwritten slot.
   *
   * @param address where the program is now
   * @param last the block that ran before
   * @return its index, or {@link #NONE}
   */
  public int find(FrameStack frames, long address, long last) {
    long sp = stackPointer();
    for (int i = frames.size() - 1; i >= 0; i--) {
      long mark = watched(frames, i);
      if (mark == UNWATCHED) {
        continue;
      }
      if (!isAbove(sp, mark)) {
        watched = mark;
        return NONE;
      }
      long word = word(frames, i);
      if (word == frames.fromPc(i)) {
        continue;
      }
      long to = addresses.instruction(word);
      if (to == address) {
        if (points.sameFunction(frames.selfPc(i), last) || points.returnsForOthers(last)) {
          return i;
        }
        watched = UNWATCHED;
        return NONE;
      }
      boolean unframed = !pushes && sp == mark + 1; // as before the function has made its frame
      if (!handlers.test(to) || unframed) {
        return NONE;
      }
    }
    watched = UNWATCHED;
    return NONE;
  }

  private long word(FrameStack frames, int frame) {
    try {
      return memory.readWord(frames.slot(frame));
    } catch (GuestAccessException gone) {
      return frames.fromPc(frame);
    }
  }
}
