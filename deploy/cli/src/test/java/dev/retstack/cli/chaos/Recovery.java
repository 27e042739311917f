package dev.retstack.cli.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How long partitions stood still after their owner was hit, and what they waited for. Times are
 * milliseconds since the fault; of several partitions the last counts.
 *
 * @param given the group has a new owner for it: the session's end and the rebalance
 * @param opened the new owner shut the old one out and has its checkpoint
 * @param flowing chunks that came after that checkpoint are in the state
 */
record Recovery(int partitions, long given, long opened, long flowing) {
  /** A partition and what its owner had when it was hit. */
  private static final class Wait {
    final int partition;
    final long epoch;
    long given;
    long opened;

    Wait(int partition, long epoch) {
      this.partition = partition;
      this.epoch = epoch;
    }
  }

  /**
   * Waits until these partitions flow again.
   *
   * @param asked members that can answer
   * @param lost epochs by partition, as the old owner had them
   * @param watch sees the checkpoints that are committed
   * @param fleet must go on meanwhile
   */
  static Recovery of(
      List<Member> asked,
      Map<Integer, Long> lost,
      long faultNanos,
      StateWatch watch,
      TestFleet fleet,
      Duration patience)
      throws Exception {
    Map<Integer, Wait> left = new LinkedHashMap<>();
    lost.forEach((partition, epoch) -> left.put(partition, new Wait(partition, epoch)));
    long given = 0;
    long opened = 0;
    long flowing = 0;
    while (!left.isEmpty()) {
      if (millisSince(faultNanos) > patience.toMillis()) {
        throw new AssertionError(
            "partitions %s stand still %s after the fault".formatted(left.keySet(), patience));
      }
      Map<Member, Member.Scrape> scrapes = new HashMap<>();
      for (Member member : asked) {
        member.requireAlive();
        member.scrape().ifPresent(scrape -> scrapes.put(member, scrape));
      }
      for (Wait wait : List.copyOf(left.values())) {
        if (flows(wait, scrapes.values(), faultNanos, watch)) {
          left.remove(wait.partition);
          given = Math.max(given, wait.given);
          opened = Math.max(opened, wait.opened);
          flowing = millisSince(faultNanos);
        }
      }
      fleet.run(left.isEmpty() ? 1 : 100);
    }
    return new Recovery(lost.size(), given, opened, flowing);
  }

  private static boolean flows(
      Wait wait, Iterable<Member.Scrape> scrapes, long faultNanos, StateWatch watch) {
    Optional<StateWatch.Checkpoint> takeover = watch.takeover(wait.partition, wait.epoch);
    takeover.ifPresent(one -> wait.opened = (one.seenNanos() - faultNanos) / 1_000_000);
    boolean flows = false;
    for (Member.Scrape scrape : scrapes) {
      Double open = scrape.of(Member.Names.OPEN).get(wait.partition);
      double epoch = scrape.of(Member.Names.EPOCH).getOrDefault(wait.partition, 0.0);
      if (open != null && (open == 0 || epoch > wait.epoch) && wait.given == 0) {
        wait.given =
            Math.min(millisSince(faultNanos), wait.opened == 0 ? Long.MAX_VALUE : wait.opened);
      }
      if (takeover.isPresent() && epoch > wait.epoch) {
        double next = scrape.of(Member.Names.NEXT).get(wait.partition);
        boolean nothingLeft = scrape.of(Member.Names.LAG).getOrDefault(wait.partition, 1.0) == 0;
        flows |= nothingLeft || next > takeover.get().nextOffset();
      }
    }
    return flows;
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  /** How many of them took at most so long. */
  static long within(List<Recovery> all, Duration bound) {
    return all.stream().filter(one -> one.flowing() <= bound.toMillis()).count();
  }

  /** Median and worst of some recoveries, in words. */
  static String figures(List<Recovery> all) {
    if (all.isEmpty()) {
      return "no partition was hit";
    }
    return "recovery %s (given to a new owner %s, opened %s)"
        .formatted(
            medianAndWorst(all.stream().map(Recovery::flowing).toList()),
            medianAndWorst(all.stream().map(Recovery::given).toList()),
            medianAndWorst(all.stream().map(Recovery::opened).toList()));
  }

  /** Of some times, in words. */
  static String medianAndWorst(List<Long> millis) {
    if (millis.isEmpty()) {
      return "none";
    }
    List<Long> sorted = new ArrayList<>(millis);
    sorted.sort(null);
    return "median %.1f s, worst %.1f s"
        .formatted(sorted.get((sorted.size() - 1) / 2) / 1e3, sorted.getLast() / 1e3);
  }
}
