package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The disks of two of three brokers are full: both die, and since a record counts only when two
 * have it, nothing is written any more. Cores stand still, members stay and say what they miss;
 * once there is room all goes on.
 */
final class FullDisks {
  /** So long Kafka's clients wait for a record to be taken, and then some. */
  private static final Duration GIVES_UP = Duration.ofSeconds(140);

  private final Job job;
  private final List<Integer> victims;
  private final Duration patience;

  /**
   * Disks to be filled.
   *
   * @param victims brokers whose data are on file systems of their own, one each
   * @param patience longest time until all partitions flow once the brokers are started again
   */
  FullDisks(Job job, List<Integer> victims, Duration patience) {
    this.job = job;
    this.victims = victims;
    this.patience = patience;
  }

  /**
   * Fills them so many times; returns the figures.
   *
   * @param full how long there is no room, from the death of both brokers
   */
  String run(int times, Duration full, TestFleet fleet) throws Exception {
    BrokerCluster brokers = job.brokers();
    List<Long> recoveries = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      fleet.run(1_000);
      awaitSending(fleet);
      Map<Integer, Long> before = job.positions();
      for (int victim : victims) {
        FullDisk.fill(filler(victim));
      }
      for (int victim : victims) {
        FullDisk.awaitDeath(brokers, victim, fleet);
      }
      fleet.run(full.toMillis());
      awaitStandstill(fleet);
      for (Member member : job.members()) {
        assertThat(member.isAlive()).as("member %d runs", member.number()).isTrue();
        if (full.compareTo(GIVES_UP) > 0) {
          assertThat(member.said())
              .contains("Kafka did not answer in time, see whether enough brokers run");
        }
      }
      for (int victim : victims) {
        Files.delete(filler(victim));
        brokers.start(victim);
      }
      long room = System.nanoTime();
      recoveries.add(job.awaitFlow(before, room, fleet, patience));
      brokers.awaitAll();
      System.out.println(
          "  two disks full: all partitions flow %d ms after there was room"
              .formatted(recoveries.getLast()));
    }
    return "two disks full %d times for %d s and more; flowing again after %s"
        .formatted(times, full.toSeconds(), Recovery.medianAndWorst(recoveries));
  }

  private Path filler(int victim) {
    return job.brokers().data(victim).resolveSibling("filler");
  }

  /** Returns when the cores stand still and say so: the same twice, one line after the other. */
  private void awaitStandstill(TestFleet fleet) throws Exception {
    long start = System.nanoTime();
    while (!standsStill(fleet.said().lines().toList())) {
      if (System.nanoTime() - start > patience.toNanos()) {
        throw new AssertionError("cores go on with one broker of three: " + fleet.said());
      }
      fleet.run(500);
    }
  }

  private static boolean standsStill(List<String> notes) {
    String last = notes.isEmpty() ? "" : notes.getLast();
    return last.contains("wait until theirs are taken") && last.equals(notes.get(notes.size() - 2));
  }

  /** Returns when members apply what the fleet sends. */
  private void awaitSending(TestFleet fleet) throws Exception {
    long start = System.nanoTime();
    while (job.positions().values().stream().noneMatch(next -> next > 0)) {
      if (System.nanoTime() - start > patience.toNanos()) {
        throw new AssertionError("nothing comes: " + fleet.said());
      }
      fleet.run(200);
    }
  }
}
