package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.probe.frame.FrameStack;

/**
 * A separate ret_stack: that of a task, or that of an interrupt on top of another context.
 *
 * <p>Its window [{@link #low}, {@link #high}) is the part of guest memory in which its stack is
 * known to lie. Windows of a core never overlap. A window that is empty (both ends equal) is not
 * known.
 *
 * @param <S> the frames
 */
final class Context<S extends FrameStack> {
  /** Bytes below the place where a signal handler begins that are its stack in any case. */
  private static final long NEAR = 16 * 1024L;

  /** Whose it is. */
  final GuestTask<S> task;

  /** What it interrupted; null for the lowest context of a task. */
  Context<S> below;

  final S frames;

  /** Of an interrupt: its number, where the task was, and the stack pointer then. */
  final long number;

  final long interruptedAt;
  final long stackPointer;

  /** True for a handler that is known by its function: it is over when that returns. */
  final boolean isFunction;

  /**
   * True for the handler of a signal: its stack is below {@link #stackPointer}, its frame above.
   */
  boolean isSignal;

  /** Of an interrupt: the stack pointer of what was interrupted. */
  long interruptedSp;

  /** The separate stack that such a handler runs on; of no bytes where there is none. */
  long ownStack;

  long ownBytes;

  /** True where records say that the interrupt is open. */
  boolean told;

  /** When that was said. */
  long time;

  long low;
  long high;

  /** The lowest address that is known to be of its stack; of no meaning while none is. */
  long lowest;

  /** The context that a task runs in. */
  Context(GuestTask<S> task, S frames) {
    this(task, null, frames, 0, 0, 0, false);
    told = true;
  }

  /** The context of an interrupt. */
  Context(
      GuestTask<S> task,
      Context<S> below,
      S frames,
      long number,
      long interruptedAt,
      long stackPointer,
      boolean isFunction) {
    this.task = task;
    this.below = below;
    this.frames = frames;
    this.number = number;
    this.interruptedAt = interruptedAt;
    this.stackPointer = stackPointer;
    this.isFunction = isFunction;
    this.interruptedSp = stackPointer;
  }

  /** True where a slot on the stack of what was interrupted can only be of that. */
  boolean isLeftFor(long retP) {
    return (ownBytes != 0 && !isOnOwn(retP)) || Long.compareUnsigned(retP, stackPointer) >= 0;
  }

  /** True for a slot on the separate stack of a signal handler. */
  boolean isOnOwn(long retP) {
    return Long.compareUnsigned(retP - ownStack, ownBytes) < 0;
  }

  /** True for a slot below the place where a signal handler begins, where its first frames are. */
  boolean isNear(long retP) {
    return ownBytes == 0 && Long.compareUnsigned(stackPointer - retP, NEAR) <= 0;
  }

  /** True where the window of this context is known, or that of one that it interrupted. */
  boolean isTaskPlaced() {
    return isPlaced() || (below != null && below.isTaskPlaced());
  }

  /** True where a context is one that this one has interrupted. */
  boolean isOnTopOf(Context<S> other) {
    Context<S> at = below;
    while (at != null && at != other) {
      at = at.below;
    }
    return at != null;
  }

  boolean isInterrupt() {
    return below != null;
  }

  /** True where a handler that opened its interrupt itself is over: its frame is gone. */
  boolean isHandlerOver() {
    return isFunction && frames.size() == 0;
  }

  /** True where the window is known. */
  boolean isPlaced() {
    return low != high;
  }

  /** True for an address in the window. */
  boolean holds(long address) {
    return Long.compareUnsigned(address - low, high - low) < 0;
  }

  /** True where a slot lies below that of the topmost open frame, as one of its callee does. */
  boolean isCallerOf(long retP) {
    int top = frames.size() - 1;
    return top >= 0 && Long.compareUnsigned(retP, frames.retP(top)) < 0;
  }

  /** Index of the open frame that returns through a place; -1 where there is none. */
  int open(int place, long above) {
    int frame = frames.find(place, above);
    return frame < frames.size() ? frame : -1;
  }

  /**
   * An interrupt comes: what lies below the stack pointer is the interrupt's while that is open.
   */
  void giveTo(Context<S> interrupt) {
    if (interrupt.ownBytes == 0 && holds(interrupt.stackPointer)) {
      interrupt.low = low;
      interrupt.high = interrupt.stackPointer;
      interrupt.lowest = interrupt.stackPointer;
      low = interrupt.stackPointer;
    }
  }

  /** The interrupt on top is over. */
  void takeFrom(Context<S> interrupt) {
    if (isPlaced() && interrupt.isPlaced() && interrupt.high == low) {
      low = interrupt.low;
    }
    interrupt.low = interrupt.high;
  }

  /** True where an open frame returns through a place, and its slot is where it must be. */
  boolean fits(int place, long above) {
    int frame = open(place, above);
    return frame >= 0 && Long.compareUnsigned(frames.retP(frame), above) < 0;
  }

  /** True where the frame that returns through a place lies below another context's. */
  boolean isBelow(Context<S> other, int place, long above) {
    long slot = frames.retP(open(place, above));
    return Long.compareUnsigned(slot, other.frames.retP(other.open(place, above))) < 0;
  }

  /** Gives up an address of the window, which is another's stack, and what lies beyond it. */
  void giveUp(long address) {
    int top = frames.size() - 1;
    if (top >= 0 && Long.compareUnsigned(address, frames.retP(top)) < 0) {
      low = address + 1;
      lowest = frames.retP(top);
    } else if (top >= 0 && Long.compareUnsigned(address, frames.retP(0)) > 0) {
      high = address;
    } else {
      low = high;
    }
  }
}
