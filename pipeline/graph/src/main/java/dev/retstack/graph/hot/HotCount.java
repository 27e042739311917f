package dev.retstack.graph.hot;

/**
 * How often an address was called.
 *
 * @param address selfPc of a function, or the base of the addresses counted as one
 * @param hits calls; in a seed table what its increment and decay make of them
 * @param ratio of 1024, how much of all; in a seed table when it was last hit
 */
public record HotCount(long address, long hits, long ratio) {

  /** This count under another form of its address. */
  HotCount at(long other) {
    return new HotCount(other, hits, ratio);
  }

  /** Hits of a whole, of 1024; 0 where the whole is 0. */
  public static long ratio(long hits, long whole) {
    if (whole == 0) {
      return 0;
    }
    return hits <= Long.MAX_VALUE >> 10
        ? (hits << 10) / whole
        : (long) (1024 * ((double) hits / whole));
  }
}
