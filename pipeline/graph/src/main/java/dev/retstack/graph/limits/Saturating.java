package dev.retstack.graph.limits;

/** Sums of counts and times that stop at the largest number. */
public final class Saturating {
  private Saturating() {}

  /** Sum of two that are not negative, which stops at {@link Long#MAX_VALUE}. */
  public static long sum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** Sum of any two, which stops at the largest number and at its opposite. */
  public static long signed(long a, long b) {
    long sum = a + b;
    boolean wrapped = ((a ^ sum) & (b ^ sum)) < 0;
    long clamped = wrapped && a > 0 ? Long.MAX_VALUE : wrapped ? -Long.MAX_VALUE : sum;
    return Math.max(-Long.MAX_VALUE, clamped);
  }
}
