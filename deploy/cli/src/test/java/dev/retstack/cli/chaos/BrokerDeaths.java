package dev.retstack.cli.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Brokers die, stop in order, and are all away for a while. A fleet with little room for what
 * cannot be sent stands still meanwhile, and goes on.
 */
final class BrokerDeaths {
  /** Of what cannot be sent; the fleet's cores stand still when it is full. */
  static final String LITTLE_ROOM = "--kafka buffer.memory=131072 --kafka batch.size=16384";

  private final Job job;
  private final Duration patience;

  /**
   * Deaths to come.
   *
   * @param patience longest time until all partitions flow, while a broker or all are away not
   *     counted
   */
  BrokerDeaths(Job job, Duration patience) {
    this.job = job;
    this.patience = patience;
  }

  /** Does what the script says; returns the figures. */
  String run(ChaosScript script, TestFleet fleet) throws Exception {
    BrokerCluster brokers = job.brokers();
    List<Long> recoveries = new ArrayList<>();
    for (ChaosScript.Fault fault : script.faults()) {
      fleet.run(fault.pauseMillis());
      Map<Integer, Long> before = job.positions();
      for (int victim : fault.victims()) {
        if (fault.kind() == ChaosScript.Kind.STOP) {
          brokers.stop(victim);
        } else {
          brokers.kill(victim);
        }
      }
      long dead = System.nanoTime();
      fleet.run(fault.awayMillis());
      for (int victim : fault.victims()) {
        brokers.start(victim);
      }
      boolean all = fault.victims().size() == BrokerCluster.BROKERS;
      long from = all ? System.nanoTime() : dead;
      long millis = job.awaitFlow(before, from, fleet, patience.plusMillis(fault.awayMillis()));
      recoveries.add(millis);
      System.out.println("  %s: all partitions flow after %d ms".formatted(fault, millis));
      brokers.awaitAll();
    }
    return "%d deaths; flowing again after %s"
        .formatted(script.faults().size(), Recovery.medianAndWorst(recoveries));
  }
}
