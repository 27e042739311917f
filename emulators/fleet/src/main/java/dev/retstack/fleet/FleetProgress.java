package dev.retstack.fleet;

/**
 * How far a fleet is.
 *
 * @param cores in the fleet
 * @param ended of them
 * @param instructions executed by all
 * @param records sent by all
 * @param chunks sent by all
 * @param overruns entries refused because ret_stack was full
 * @param unhijackable entries left alone
 */
public record FleetProgress(
    int cores,
    int ended,
    long instructions,
    long records,
    long chunks,
    long overruns,
    long unhijackable) {

  /** Two fleets together. */
  public FleetProgress plus(FleetProgress other) {
    return new FleetProgress(
        cores + other.cores,
        ended + other.ended,
        instructions + other.instructions,
        records + other.records,
        chunks + other.chunks,
        overruns + other.overruns,
        unhijackable + other.unhijackable);
  }
}
