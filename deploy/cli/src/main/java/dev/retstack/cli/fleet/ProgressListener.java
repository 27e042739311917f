package dev.retstack.cli.fleet;

import dev.retstack.cli.command.ProgressLine;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.graph.check.Count;
import java.time.Duration;

/** Shows the state of a fleet on the progress line, and passes every event on. */
class ProgressListener implements FleetListener {
  /** From this many cores on, the time that their start takes is of interest. */
  private static final int MANY = 100;

  private final ProgressLine line;
  private final FleetListener next;

  ProgressListener(ProgressLine line, FleetListener next) {
    this.line = line;
    this.next = next;
  }

  @Override
  public void progress(FleetProgress progress) {
    line.show(
        "%d of %s ended, %,d instructions, %s in %s%s"
            .formatted(
                progress.ended(),
                Count.of(progress.cores(), "core"),
                progress.instructions(),
                Count.grouped(progress.records(), "record"),
                Count.grouped(progress.chunks(), "chunk"),
                standing(progress.waits().now())));
    next.progress(progress);
  }

  @Override
  public void allOpened(int cores, Duration time) {
    if (cores >= MANY) {
      line.note(
          "%,d cores opened in %.1f s, %,.0f per second"
              .formatted(cores, time.toNanos() / 1e9, cores * 1e9 / Math.max(1, time.toNanos())));
    }
    next.allOpened(cores, time);
  }

  private static String standing(int cores) {
    return cores == 0 ? "" : ", %d wait until theirs are taken".formatted(cores);
  }

  @Override
  public void coreEnded(CoreResult result) {
    next.coreEnded(result);
  }
}
