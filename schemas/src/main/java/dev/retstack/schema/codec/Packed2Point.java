package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.NEW;
import static dev.retstack.schema.codec.Packed2Layout.RETURN;

/**
 * A point of the program and what is known of it: which places came next, and after which time. It
 * is four words in an array of all points; this class knows what they mean.
 */
final class Packed2Point {
  // a point: state, then the time to each of its two successors
  static final int POINT_BITS = 2;
  static final int STATE = 0;
  static final int TIME_0 = 1;

  // fields of a point's state
  static final long MODE = 3;
  static final int TRUST_SHIFT = 2;
  static final int TIMING_SHIFT = 5;
  static final int FLIP_SHIFT = 9;
  static final int SUCCESSOR_SHIFT = 16;
  static final int SUCCESSOR_BITS = 16;

  // modes of a point: nothing known, one successor always, a fork, more than two
  static final int FRESH = 0;
  static final int CERTAIN = 1;
  static final int FORK = 2;
  static final int OPEN = 3;

  /** Times in a row that a point's only successor must come before it counts as certain. */
  static final int TRUST_MAX = 7;

  // how a time or a callee is foretold: not yet, as last time, not at all, not yet but one chance
  static final int UNSURE = 0;
  static final int SURE = 1;
  static final int VARIES = 2;
  static final int DOUBTED = 3;

  private Packed2Point() {}

  static int entryPoint(int function) {
    return 2 * function;
  }

  static int returnPoint(int site) {
    return 2 * site + 1;
  }

  static int successor(long state, int slot) {
    return (int) (state >>> (SUCCESSOR_SHIFT + slot * SUCCESSOR_BITS)) & 0xffff;
  }

  static int timing(long state, int slot) {
    return (int) (state >>> (TIMING_SHIFT + 2 * slot)) & 3;
  }

  static int flip(long state) {
    return (int) (state >>> FLIP_SHIFT) & 1;
  }

  /** The slot of the point that foretells this successor, or -1; a stranger has none. */
  static int slotOf(long state, int successor) {
    if (successor == NEW) {
      return -1;
    }
    return successor(state, 0) == successor ? 0 : successor(state, 1) == successor ? 1 : -1;
  }

  /** True where the successor needs no escape: it stands in a slot, or any other may come. */
  static boolean isForetold(long state, int slot) {
    return slot >= 0 || ((state & MODE) != CERTAIN && successor(state, 1) == 0);
  }

  /**
   * Teaches a point the time to one of its successors.
   *
   * @param points all points; this one begins at {@code at}
   * @return its new state
   */
  static long learnTime(long[] points, int at, long state, int slot, long delta) {
    int shift = TIMING_SHIFT + 2 * slot;
    long last = points[at + TIME_0 + slot];
    points[at + TIME_0 + slot] = delta;
    int timing = timing(state, slot);
    return state + ((long) (taught(timing, delta == last) - timing) << shift);
  }

  /** How sure a foretelling is after the next value, which was equal to the last one or not. */
  static int taught(int sureness, boolean equal) {
    return switch (sureness) {
      case UNSURE -> equal ? SURE : DOUBTED;
      case SURE -> equal ? SURE : VARIES;
      case DOUBTED -> equal ? SURE : VARIES;
      default -> VARIES;
    };
  }

  /** A point's state after the successor in a slot has come again. */
  static long confirmed(long state, int slot) {
    if ((state & MODE) != FORK || slot != 0 || successor(state, 1) != 0) {
      return state;
    }
    long more = state + (1 << TRUST_SHIFT);
    return (more >>> TRUST_SHIFT & 7) == TRUST_MAX ? more - FORK + CERTAIN : more;
  }

  /** A point's state with one more successor. */
  static long joined(long[] points, int at, long state, int successor, long delta) {
    int first = successor(state, 0);
    if (first == 0) {
      points[at + TIME_0] = delta;
      return (long) successor << SUCCESSOR_SHIFT
          | (successor == RETURN ? 0L : 1L << FLIP_SHIFT)
          | FORK;
    }
    if (successor(state, 1) != 0) {
      return OPEN;
    }
    points[at + TIME_0 + 1] = delta;
    long flip = first != RETURN && successor == RETURN ? 1L << FLIP_SHIFT : 0;
    return (state & ~(MODE | (1L << FLIP_SHIFT)))
        | FORK
        | flip
        | ((long) successor << (SUCCESSOR_SHIFT + SUCCESSOR_BITS));
  }
}
