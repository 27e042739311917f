package dev.retstack.cli.chaos;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Down to the release before and up again, one member after the other, while a fleet sends: first
 * held to that release's state version, then as that release itself, then as this one again.
 */
final class Rolls {
  private final Job job;
  private final Path previous;
  private final int stateVersion;

  /**
   * @param previous a checkout of the release before, built
   * @param stateVersion the newest that it reads
   */
  Rolls(Job job, Path previous, int stateVersion) {
    this.job = job;
    this.previous = previous;
    this.stateVersion = stateVersion;
  }

  /** Rolls; returns the figures. */
  String run() throws Exception {
    TestFleet fleet = job.fleet();
    Stops stops = new Stops();
    Thread watch = Thread.ofPlatform().daemon().start(stops);
    replaceAll(fleet, "retstack", "--state-version " + stateVersion);
    replaceAll(fleet, previous.resolve("retstack").toString(), "");
    replaceAll(fleet, "retstack", "");
    stops.over.set(true);
    watch.join();
    fleet.end();
    Comparison same = Comparison.of(job, job.members().getFirst(), TestFleet.CORES);
    return "pinned, down and up, %d members each; the longest time in which a partition stood still: %d ms; %s"
        .formatted(job.members().size(), stops.longestMillis, same);
  }

  private void replaceAll(TestFleet fleet, String launcher, String more) throws Exception {
    for (Member member : job.members()) {
      member.become(launcher, more);
      member.terminate();
      member.start();
      member.awaitServing();
      job.awaitSettled();
      fleet.run(1_000);
    }
  }

  /** Looks how far members are, again and again. */
  private final class Stops implements Runnable {
    private final AtomicBoolean over = new AtomicBoolean();
    private final Map<Integer, Long> positions = new HashMap<>();
    private final Map<Integer, Long> since = new HashMap<>();
    private volatile long longestMillis;

    @Override
    public void run() {
      try {
        while (!over.get()) {
          look(job.positions());
          Thread.onSpinWait();
          job.members().getFirst().endsWithin(100);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void look(Map<Integer, Long> now) {
      long nanos = System.nanoTime();
      for (int partition : List.copyOf(now.keySet())) {
        long next = now.get(partition);
        Long before =
            positions.put(partition, Math.max(next, positions.getOrDefault(partition, 0L)));
        if (before == null || next > before) {
          Long from = since.put(partition, nanos);
          if (before != null && before > 0 && from != null) {
            longestMillis = Math.max(longestMillis, (nanos - from) / 1_000_000);
          }
        }
      }
    }
  }
}
