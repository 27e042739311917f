package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

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
  String run(ChaosScript script) throws Exception {
    BrokerCluster brokers = job.brokers();
    TestFleet fleet = job.fleet(LITTLE_ROOM);
    List<Long> recoveries = new ArrayList<>();
    try (StateWatch watch =
        new StateWatch(job.kafka(), job.topics().state(), job.group(), "read_committed")) {
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
      fleet.end();
      Comparison same = Comparison.of(job, job.members().getFirst(), TestFleet.CORES);
      assertThat(watch.wrong()).as("one owner at a time").isEmpty();
      assertThat(fleet.said()).contains("cores stood still");
      return "%d deaths; flowing again after %s; %d takeovers, one owner at a time; %s; %s"
          .formatted(
              script.faults().size(),
              Recovery.medianAndWorst(recoveries),
              watch.takeovers(),
              fleet.said().lines().filter(line -> line.contains("stood still")).findFirst().get(),
              same);
    }
  }
}
