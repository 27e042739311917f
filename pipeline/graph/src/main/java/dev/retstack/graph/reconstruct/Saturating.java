package dev.retstack.graph.reconstruct;

/** Arithmetic of counts and times, none of them negative, that stops at the largest number. */
public final class Saturating {
  private Saturating() {}

  /** Sum that stops at {@link Long#MAX_VALUE} instead of wrapping. */
  public static long sum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
