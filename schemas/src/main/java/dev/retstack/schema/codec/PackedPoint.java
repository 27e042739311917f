package dev.retstack.schema.codec;

/**
 * A place in the program where it shows what comes next, and what is known of that. The loops ask
 * the upper fields only, which lie close together and say everything at one glance.
 */
class PackedPoint {
  // modes of a point: nothing known, one way always, a fork, more than two ways
  static final int FRESH = 0;
  static final int CERTAIN = 1;
  static final int FORK = 2;
  static final int OPEN = 3;

  /** Times in a row that a point's only successor must come before it counts as certain. */
  static final int TRUST_MAX = 7;

  /**
   * The successor of a bit that is not set, and that of a certain point; null where the loops must
   * not go on.
   */
  PackedSite zero;

  /** The successor of a set bit, or null likewise. */
  PackedSite one;

  /** The time to that successor, as {@link PackedWay#foretoldTime} says. */
  long zeroTime;

  long oneTime;

  /** 1 where a bit says which, else 0. */
  int fork;

  /**
   * How often the loops may come by: while trust in the only successor rises, all but one of the
   * times that it takes, and the last one is left to {@link #learn}.
   */
  int visits;

  byte mode;

  /** 1 where a set bit stands for the first slot. */
  byte flip;

  private final PackedWay first = new PackedWay();
  private final PackedWay second = new PackedWay();

  /** Knows nothing. */
  final void forget() {
    mode = FRESH;
    visits = TRUST_MAX - 1;
    flip = 0;
    first.clear();
    second.clear();
    refresh();
  }

  /** The slot that foretells this successor, or -1. */
  final int slotOf(PackedSite successor) {
    return successor == first.site ? 0 : successor == second.site ? 1 : -1;
  }

  final PackedWay way(int slot) {
    return slot == 0 ? first : second;
  }

  /** True where the successor needs no escape: it stands in a slot, or any other may come. */
  final boolean isForetold(int slot) {
    return slot >= 0 || (mode != CERTAIN && second.site == null);
  }

  /**
   * Learns which successor came, and when.
   *
   * @param slot where it stands, or -1
   * @param successor null where it has no number
   */
  final void learn(int slot, PackedSite successor, long delta) {
    if (slot >= 0) {
      way(slot).learn(delta);
      if (slot == 0 && mode == FORK && second.site == null && visits-- == 0) {
        mode = CERTAIN;
        flip = 0;
      }
    } else if (successor != null && mode != OPEN) {
      join(successor, delta);
    }
    refresh();
  }

  private void join(PackedSite successor, long delta) {
    if (first.site == null) {
      first.open(successor, delta);
      mode = FORK;
      flip = (byte) (successor.isBack() ? 0 : 1);
    } else if (second.site == null) {
      second.open(successor, delta);
      mode = FORK;
      flip = (byte) (successor.isBack() ? 1 : 0);
    } else {
      forget();
      mode = OPEN;
    }
  }

  /** Says anew what the loops may know. */
  private void refresh() {
    fork = mode == FORK ? 1 : 0;
    PackedWay byZero = flip == 0 ? first : second;
    PackedWay byOne = flip == 0 ? second : first;
    zero = byZero.settledSite();
    zeroTime = byZero.foretoldTime();
    one = byOne.settledSite();
    oneTime = byOne.foretoldTime();
    visits = mode == CERTAIN || second.site != null ? Integer.MAX_VALUE : visits;
  }
}
