package dev.retstack.cli.chaos;

import java.util.ArrayList;
import java.util.List;

/** Members leave in order and come again, one after the other; one at least stays. */
final class Rebalances {
  private final Job job;

  Rebalances(Job job) {
    this.job = job;
  }

  /** Does what the script says; returns the figures. */
  String run(ChaosScript script, TestFleet fleet) throws Exception {
    List<Long> stops = new ArrayList<>();
    int starts = 0;
    for (ChaosScript.Fault fault : script.faults()) {
      Member member = job.members().get(fault.victims().getFirst() - 1);
      long begun = System.nanoTime();
      long running = job.members().stream().filter(Member::isAlive).count();
      if (!member.isAlive()) {
        member.start();
        starts++;
      } else if (running > 1) {
        member.terminate();
        stops.add((System.nanoTime() - begun) / 1_000_000);
      }
      long taken = (System.nanoTime() - begun) / 1_000_000;
      fleet.run(Math.max(1, fault.pauseMillis() - taken));
    }
    for (Member member : job.members()) {
      if (!member.isAlive()) {
        member.start();
      }
    }
    return "%d members left in order in %s each, %d came"
        .formatted(stops.size(), Recovery.medianAndWorst(stops), starts);
  }
}
