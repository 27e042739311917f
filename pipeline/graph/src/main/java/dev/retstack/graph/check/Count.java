package dev.retstack.graph.check;

/** Counts as people read them: {@code 1 call}, {@code 2 calls}. */
public final class Count {
  private Count() {}

  /**
   * A count and what is counted.
   *
   * @param noun of one; many have an s behind it
   */
  public static String of(long count, String noun) {
    return of(count, noun, noun + "s");
  }

  /**
   * A count, and the words behind it.
   *
   * @param one such as {@code core is dead}
   * @param many such as {@code cores are dead}
   */
  public static String of(long count, String one, String many) {
    return count + " " + (count == 1 ? one : many);
  }

  /** Formats as {@link #of(long, String)}, with thousands apart: {@code 1,234 calls}. */
  public static String grouped(long count, String noun) {
    return grouped(count, noun, noun + "s");
  }

  /** Formats as {@link #of(long, String, String)}, with thousands apart. */
  public static String grouped(long count, String one, String many) {
    return "%,d %s".formatted(count, count == 1 ? one : many);
  }
}
