package dev.retstack.schema;

/**
 * Seeds of random tests. Fresh each run, and printed; {@code -Dretstack.seed=S} repeats one. CI
 * gives {@code -Dretstack.seed.default}, made of the sources: the same sources meet the same seeds,
 * so that a build which was whole stays so.
 */
public final class Seeds {
  private Seeds() {}

  /** A seed for the named test. */
  public static long fresh(String test) {
    long drawn = Long.getLong("retstack.seed.default", System.nanoTime() & Long.MAX_VALUE);
    long seed = Long.getLong("retstack.seed", drawn);
    System.out.println(test + ": -Dretstack.seed=" + seed);
    return seed;
  }
}
