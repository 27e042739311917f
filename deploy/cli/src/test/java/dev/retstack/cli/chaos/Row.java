package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

/**
 * What every row does: a fleet sends, faults happen one after the other, the fleet ends, and the
 * result is compared with a replay. Meanwhile each partition has one owner at a time.
 */
final class Row {
  /** Something that happens to a job while a fleet sends. */
  @FunctionalInterface
  interface Faults {
    /**
     * Makes the faults happen; returns the figures.
     *
     * @param watch sees the checkpoints that are committed
     */
    String happen(TestFleet fleet, StateWatch watch) throws Exception;
  }

  private Row() {}

  /** Runs faults with a fleet of the usual options; returns the figures. */
  static String of(Job job, Faults... faults) throws Exception {
    return of(job, job.fleet(), faults);
  }

  /** Runs faults with this fleet, which it ends; returns the figures. */
  static String of(Job job, TestFleet fleet, Faults... faults) throws Exception {
    List<String> figures = new ArrayList<>();
    try (StateWatch watch =
        new StateWatch(job.kafka(), job.topics().state(), job.group(), "read_committed")) {
      for (Faults one : faults) {
        if (!figures.isEmpty()) {
          job.awaitSettled();
        }
        figures.add(one.happen(fleet, watch));
      }
      fleet.end();
      Comparison same = Comparison.of(job, job.members().getFirst(), TestFleet.CORES);
      assertThat(watch.wrong()).as("one owner at a time").isEmpty();
      long compacted = watch.compacted();
      assertThat(compacted).as("records of the state that were compacted away").isPositive();
      return "%s; %d checkpoints, %d takeovers, one owner at a time; %d records of the state compacted away; %s"
          .formatted(String.join("; ", figures), watch.count(), watch.takeovers(), compacted, same);
    }
  }
}
