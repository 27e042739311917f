package dev.retstack.fleet.progress;

import dev.retstack.fleet.publish.SinkWaits;

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
 * @param waits how much they had to wait for the sink
 */
public record FleetProgress(
    int cores,
    int ended,
    long instructions,
    long records,
    long chunks,
    long overruns,
    long unhijackable,
    SinkWaits waits) {

  /** Two fleets together. */
  public FleetProgress plus(FleetProgress other) {
    return new FleetProgress(
        cores + other.cores,
        ended + other.ended,
        instructions + other.instructions,
        records + other.records,
        chunks + other.chunks,
        overruns + other.overruns,
        unhijackable + other.unhijackable,
        waits.plus(other.waits));
  }
}
