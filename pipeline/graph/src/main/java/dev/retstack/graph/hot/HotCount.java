package dev.retstack.graph.hot;

/**
 * How often an address was called.
 *
 * @param address selfPc of a function, or the base of the addresses counted as one
 * @param hits calls; in a seed table what its increment and decay make of them
 * @param atLeast the true number of calls is not smaller; a seed table knows no bounds, hits stand
 *     for them
 * @param atMost nor larger
 * @param ratio of 1024, how much of all; in a seed table when it was last hit
 */
public record HotCount(long address, long hits, long atLeast, long atMost, long ratio) {

  /** A count that is no estimate. */
  public static HotCount exact(long address, long hits, long ratio) {
    return new HotCount(address, hits, hits, hits, ratio);
  }

  /** The same count of an address that is written so. */
  HotCount at(long other) {
    return new HotCount(other, hits, atLeast, atMost, ratio);
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
