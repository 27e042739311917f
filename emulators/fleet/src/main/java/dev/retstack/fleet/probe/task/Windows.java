package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.task.StackRegions.Region;
import java.util.List;
import java.util.Set;

/**
 * Which part of guest memory belongs to whose stack, as far as entries and exits have shown it. A
 * slot outside of all windows is judged by the nearest ones in its region.
 *
 * @param <S> frames of a context
 */
final class Windows<S extends FrameStack> {
  /** Windows grow downwards in steps of this. */
  private static final long PAGE = 4096;

  /** Bytes below a stack where the next entry is the same stack's, whatever the region. */
  private static final long NEAR = 4096;

  /** As {@link #NEAR}, where the entry's caller has its frame in that stack. */
  private static final long FRAME_MOST = 16 * 1024L;

  /**
   * As {@link #FRAME_MOST}, on the stack that the program began on, where data lie in the same
   * mapping.
   */
  private static final long HOME_MOST = 64 * 1024L;

  /** Bytes above what was seen of a stack that are its own: frames of callers that are unseen. */
  private static final long ABOVE = 256;

  private final StackRegions regions;

  /** Where the stack lies that the program began on. */
  private Region home;

  Windows(StackRegions regions) {
    this.regions = regions;
  }

  /**
   * Whose stack a slot is on.
   *
   * @param all contexts of the core
   * @param fp the caller's frame pointer; 0 where that says nothing
   * @return null where it is on none that is known
   */
  Context<S> owner(List<Context<S>> all, long retP, long fp) {
    Context<S> above = null;
    Context<S> below = null;
    for (Context<S> context : all) {
      if (!context.isPlaced()) {
        continue;
      }
      if (context.holds(retP)) {
        return context;
      }
      if (Long.compareUnsigned(context.low, retP) > 0) {
        above = above == null || isBelow(context.low, above.low) ? context : above;
      } else {
        below = below == null || isBelow(below.low, context.low) ? context : below;
      }
    }
    if (above != null && isSameStack(above, retP, fp)) {
      return above;
    }
    if (below != null && isCallerOf(below, retP)) {
      return below;
    }
    return null;
  }

  /** The region that holds an address. */
  Region region(long address) {
    return regions.at(address);
  }

  /** That of a slot: of a stack that is empty it is said to be where the region ends. */
  private Region at(long retP) {
    return regions.at(retP - 1);
  }

  /** True for an address in a region where no stack is known, though some are elsewhere. */
  boolean isNew(List<Context<S>> all, long address) {
    Region region = at(address);
    return all.stream().anyMatch(Context::isPlaced)
        && all.stream().noneMatch(context -> context.isPlaced() && region.holds(context.low));
  }

  /** True for a slot in the region of the stack that a thread began on. */
  boolean isHome(GuestTask<S> thread, long retP) {
    Region region = thread.stack == 0 ? home : at(thread.stack);
    return region == null || region.holds(retP - 1);
  }

  /** True for two slots in one region. */
  boolean areNeighbours(long one, long other) {
    return at(one).holds(other - 1);
  }

  /**
   * How many frames of a stack of pieces are alive at a stack pointer: those in front of the first
   * whose slot lies below an address on its piece, or on a piece that did not lead to it.
   */
  int keptBelow(S frames, long stackPointer, long address) {
    Set<Region> pieces = regions.pieces(stackPointer - 1);
    Region piece = pieces.iterator().next();
    int keep = 0;
    while (keep < frames.size()) {
      long slot = frames.retP(keep);
      boolean isAlive =
          piece.holds(slot - 1)
              ? !isBelow(slot, address)
              : pieces.stream().anyMatch(outer -> outer.holds(slot - 1));
      if (!isAlive) {
        break;
      }
      keep++;
    }
    return keep;
  }

  private static boolean isBelow(long one, long other) {
    return Long.compareUnsigned(one, other) < 0;
  }

  /** True for a slot above all that is known of a stack, that of a caller which was not traced. */
  private boolean isCallerOf(Context<S> stack, long retP) {
    Region region = at(retP);
    if (!region.holds(stack.low)) {
      return false;
    }
    long gap = retP - stack.high;
    boolean isHome = region.equals(home) && stack.task.id == 0;
    boolean isIdle = stack.frames.size() == 0;
    return isBelow(gap, isIdle ? NEAR : ABOVE)
        || (isHome && (!region.data() || (isIdle && isBelow(gap, HOME_MOST))));
  }

  /** True for a slot below all that is known of a stack that is on that stack nevertheless. */
  private boolean isSameStack(Context<S> stack, long retP, long fp) {
    Region region = at(retP);
    if (!region.holds(stack.low)) {
      return false;
    }
    int top = stack.frames.size() - 1;
    long bottom = stack.lowest;
    if (top >= 0 && isBelow(stack.frames.retP(top), bottom)) {
      bottom = stack.frames.retP(top);
    }
    long gap = bottom - retP;
    boolean isHome = region.equals(home) && stack.task.id == 0;
    boolean callerIsThere =
        isBelow(retP, fp) && isBelow(fp, stack.high) && isBelow(fp - retP, FRAME_MOST);
    return gap <= NEAR || callerIsThere || (isHome && (!region.data() || gap <= HOME_MOST));
  }

  /**
   * The window of a context grows by an address; others give it up.
   *
   * @param all contexts of the core
   */
  void claim(List<Context<S>> all, Context<S> context, long address) {
    if (context.holds(address)) {
      return;
    }
    Region region = at(address);
    if (home == null) {
      home = region;
    }
    boolean joins = context.isPlaced() && region.holds(context.low);
    long low = max(address - 1 & -PAGE, region.start() + 1);
    long high = isBelow(region.end() - address, ABOVE) ? region.end() + 1 : address + ABOVE;
    if (joins) {
      low = isBelow(context.low, low) ? context.low : low;
      high = max(high, context.high);
    }
    for (Context<S> other : all) {
      if (other == context || !other.isPlaced()) {
        continue;
      }
      if (other.holds(address)) {
        other.giveUp(address);
      }
      if (!other.isPlaced()) {
        continue;
      }
      if (isBelow(address, other.low)) {
        high = isBelow(other.low, high) ? other.low : high;
      } else {
        low = max(low, other.high);
      }
    }
    boolean lower = !joins || !context.isPlaced() || isBelow(address, context.lowest);
    context.lowest = lower ? address : context.lowest;
    context.low = low;
    context.high = high;
  }

  private static long max(long one, long other) {
    return isBelow(one, other) ? other : one;
  }
}
