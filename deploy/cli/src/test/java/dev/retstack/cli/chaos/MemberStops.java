package dev.retstack.cli.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Members are stopped in order (SIGTERM) and started again, one after the other, while a fleet
 * sends: how long their partitions stand still until they flow at others.
 */
final class MemberStops {
  /** Partitions flow at others after this, beyond the time in which those hear of it. */
  static final Duration AFTER_HEARTBEAT = Duration.ofSeconds(5);

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Job job;
  private final Duration bound;
  private final List<Recovery> recoveries = new ArrayList<>();

  /**
   * Stops to come.
   *
   * @param bound partitions are to flow at others within it
   */
  MemberStops(Job job, Duration bound) {
    this.job = job;
    this.bound = bound;
  }

  /** Stops members in turn, so many times; returns the figures. */
  String run(int times, TestFleet fleet, StateWatch watch) throws Exception {
    List<Long> ends = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      job.awaitSettled();
      Member victim = job.members().get(i % Job.MEMBERS);
      List<Member> others = job.members().stream().filter(one -> one != victim).toList();
      Map<Integer, Long> given = job.ownedBy(List.of(victim));
      fleet.run(500);
      long now = System.nanoTime();
      victim.askToEnd();
      Recovery recovery = Recovery.of(others, given, now, watch, fleet, PATIENCE);
      recoveries.add(recovery);
      victim.awaitEnd();
      ends.add(victim.millisOfLife(now));
      System.out.println("  member %d stopped: %s".formatted(victim.number(), recovery));
      victim.start();
      victim.awaitServing();
    }
    return "%s: %d members stopped, gone after %s; %s; %d of %d within %d s"
        .formatted(
            job.protocol(),
            times,
            Recovery.medianAndWorst(ends),
            Recovery.figures(recoveries),
            Recovery.within(recoveries, bound),
            recoveries.size(),
            bound.toSeconds());
  }

  /** True where all partitions flowed at others in time. */
  boolean inTime() {
    return Recovery.within(recoveries, bound) == recoveries.size();
  }
}
