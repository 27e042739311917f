package dev.retstack.machine.memory;

/** Addresses are unsigned: a mapping may lie in the upper half. */
public final class Addresses {
  private Addresses() {}

  /** The lower of two. */
  public static long lower(long one, long other) {
    return Long.compareUnsigned(one, other) <= 0 ? one : other;
  }

  /** The higher of two. */
  public static long higher(long one, long other) {
    return Long.compareUnsigned(one, other) <= 0 ? other : one;
  }
}
