package dev.retstack.cli.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Members are killed with SIGKILL and started again, while a fleet sends. What each kill fell into
 * is asked from the broker right after it, which has not noticed the death yet.
 */
final class NodeKills {
  /** Partitions of a dead member are read again after this, beyond the session's time-out. */
  static final Duration AFTER_SESSION = Duration.ofSeconds(10);

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration AIM_PATIENCE = Duration.ofSeconds(8);

  private final Job job;
  private final Duration bound;
  private final List<Recovery> recoveries = new ArrayList<>();

  /** Those where nobody was left who could take over: all waited for members to start. */
  private final List<Recovery> starts = new ArrayList<>();

  private final Map<Transactions.Hit, Integer> hits = new EnumMap<>(Transactions.Hit.class);

  /**
   * Kills to come.
   *
   * @param bound partitions are to flow again within it
   */
  NodeKills(Job job, Duration bound) {
    this.job = job;
    this.bound = bound;
  }

  /** Does what the script says; returns the figures. */
  String run(ChaosScript script, TestFleet fleet, StateWatch committed) throws Exception {
    String topic = job.topics().state();
    try (StateWatch begun = new StateWatch(job.kafka(), topic, job.group(), "read_uncommitted");
        Transactions transactions = new Transactions(job)) {
      for (ChaosScript.Fault fault : script.faults()) {
        fleet.run(fault.pauseMillis());
        kill(fault, fleet, committed, begun, transactions);
      }
      return "%d kills; %s; %d of %d within %d s; where nobody was left to take over %s; hit %s"
          .formatted(
              script.faults().size(),
              Recovery.figures(recoveries),
              Recovery.within(recoveries, bound),
              recoveries.size(),
              bound.toSeconds(),
              Recovery.figures(starts),
              hits());
    }
  }

  private void kill(
      ChaosScript.Fault fault,
      TestFleet fleet,
      StateWatch committed,
      StateWatch begun,
      Transactions transactions)
      throws Exception {
    List<Member> victims =
        fault.victims().stream().map(number -> job.members().get(number - 1)).toList();
    Map<Integer, Long> lost = job.ownedBy(victims);
    boolean heir = false;
    for (Member member : job.members()) {
      heir |= !victims.contains(member) && member.isReady();
    }
    List<Integer> partitions = List.copyOf(lost.keySet());
    if (fault.kind() == ChaosScript.Kind.KILL_IN_CHECKPOINT && !partitions.isEmpty()) {
      begun.awaitNext(partitions, AIM_PATIENCE);
    }
    for (Member victim : victims) {
      victim.kill();
    }
    long now = System.nanoTime();
    transactions.of(partitions).forEach(hit -> hits.merge(hit, 1, Integer::sum));
    for (Member victim : victims) {
      victim.start();
    }
    if (!lost.isEmpty()) {
      Recovery recovery = Recovery.of(job.members(), lost, now, committed, fleet, PATIENCE);
      (heir ? recoveries : starts).add(recovery);
      System.out.println("  %s: %s".formatted(fault, recovery));
    }
    for (Member victim : victims) {
      victim.awaitServing();
    }
  }

  /** True where all partitions flowed again in time. */
  boolean inTime() {
    return Recovery.within(recoveries, bound) == recoveries.size();
  }

  private String hits() {
    return hits.entrySet().stream()
        .map(hit -> "%s %d".formatted(hit.getKey(), hit.getValue()))
        .collect(Collectors.joining(", "));
  }
}
