package dev.retstack.simulation;

import java.util.function.LongConsumer;

/**
 * Runs a check over many seeds. {@code -Dretstack.seeds=N} runs N of them, {@code
 * -Dretstack.seed=S} only S; a failure names its seed.
 */
final class Seeds {
  private static final int DEFAULT = 30;

  private Seeds() {}

  static void each(LongConsumer check) {
    each("retstack.seeds", check);
  }

  /**
   * Runs a check that has a separate number of seeds.
   *
   * @param property that says how many
   */
  static void each(String property, LongConsumer check) {
    each(property, DEFAULT, check);
  }

  /** Runs a check with this many seeds where the property is not given. */
  static void each(String property, int seeds, LongConsumer check) {
    Long one = Long.getLong("retstack.seed");
    int count = Integer.getInteger(property, seeds);
    long first = one == null ? 1 : one;
    long last = one == null ? count : one;
    for (long seed = first; seed <= last; seed++) {
      try {
        check.accept(seed);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "reproduce with -Dretstack.seed=" + seed + ": " + e.getMessage(), e);
      }
    }
  }
}
