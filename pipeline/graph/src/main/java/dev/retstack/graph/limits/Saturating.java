package dev.retstack.graph.limits;

/** Sums of counts and times that stop at the largest number. None of them is negative. */
public final class Saturating {
  private Saturating() {}

  /** Sum that stops at {@link Long#MAX_VALUE} instead of wrapping. */
  public static long sum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
