package dev.retstack.schema;

/** Seeds of random tests: fresh each run, printed, and set by -Dretstack.seed to repeat a run. */
public final class Seeds {
  private Seeds() {}

  /** A seed for the named test. */
  public static long fresh(String test) {
    long seed = Long.getLong("retstack.seed", System.nanoTime());
    System.out.println(test + ": -Dretstack.seed=" + seed);
    return seed;
  }
}
