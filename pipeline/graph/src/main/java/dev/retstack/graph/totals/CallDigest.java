package dev.retstack.graph.totals;

/**
 * A digest of what happened on a core, in order: a polynomial over the numbers 0 to 2^64 - 1, whose
 * coefficients are hashes of the single calls. So the digests of two stretches give that of both,
 * and it does not matter who rebuilt which of them:
 *
 * <p>{@code d(AB) = d(A) * BASE^|B| + d(B)}, and {@code d} of nothing is 0.
 */
public final class CallDigest {
  /** Odd, and {@code BASE - 1} is twice an odd number: calls that change places do not cancel. */
  private static final long BASE = 0xbf58476d1ce4e5bbL;

  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private CallDigest() {}

  /** Adds a call, or what else has an address, two times, a level and a kind of end. */
  public static long add(long digest, long selfPc, long enter, long exit, int level, int ending) {
    long call = selfPc * SPREAD + Long.rotateLeft(enter, 21) * 31 + exit;
    call = (call ^ (call >>> 29)) + level * 8L + ending;
    return add(digest, call);
  }

  /** Adds a number. */
  public static long add(long digest, long value) {
    long hash = value * SPREAD;
    return digest * BASE + (hash ^ (hash >>> 32));
  }

  /** Digest of a stretch and of the next one, which has {@code count} additions. */
  public static long join(long digest, long next, long count) {
    long power = 1;
    long square = BASE;
    for (long left = count; left > 0; left >>>= 1) {
      power *= (left & 1) == 0 ? 1 : square;
      square *= square;
    }
    return digest * power + next;
  }
}
