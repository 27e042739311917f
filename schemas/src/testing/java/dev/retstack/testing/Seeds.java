package dev.retstack.testing;

/**
 * Seeds of random tests. Fresh each run, and named by the test that fails; {@code
 * -Dretstack.seed=S} repeats one. CI gives {@code -Dretstack.seed.default}, made of the sources:
 * the same sources meet the same seeds, so that a build which was whole stays so.
 */
public final class Seeds {
  /** True in the long form, {@code -Dretstack.seeds=N}: what repeats is run as often as it can. */
  public static final boolean MANY = Integer.getInteger("retstack.seeds", 0) > 0;

  private Seeds() {}

  /** The seed of this run, which is not negative. */
  public static long fresh() {
    long drawn = Long.getLong("retstack.seed.default", System.nanoTime() & Long.MAX_VALUE);
    return Long.getLong("retstack.seed", drawn);
  }

  /** The same, and prints it with the name of the test. */
  public static long fresh(String test) {
    long seed = fresh();
    System.out.println(test + ": -Dretstack.seed=" + seed);
    return seed;
  }
}
