package dev.retstack.service.support;

/**
 * Seeds of random tests. Fresh each run and told by the test that fails; {@code -Dretstack.seed=S}
 * repeats one. CI gives {@code -Dretstack.seed.default}: the same sources meet the same seeds, so
 * that a build which was whole stays so.
 */
public final class Seeds {
  private Seeds() {}

  /** The seed of this run, which is not negative. */
  public static long fresh() {
    long drawn = Long.getLong("retstack.seed.default", System.nanoTime() & Long.MAX_VALUE);
    return Long.getLong("retstack.seed", drawn);
  }
}
