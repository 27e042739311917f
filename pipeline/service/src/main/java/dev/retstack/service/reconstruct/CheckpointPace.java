package dev.retstack.service.reconstruct;

import java.time.Duration;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * When a partition may write its next checkpoint. It holds the whole state, so that its cost grows
 * with the cores that the partition has seen: a bigger one is written less often, and all of them
 * together take a small share of the time whatever the size.
 */
final class CheckpointPace<T> {
  /** Writing down the state takes one part of a partition's time in so many. */
  private static final int SHARE = 20;

  /** Longest wait for the checkpoint that holds the end of a core, where that is affordable. */
  private static final Duration CORE_ENDED = Duration.ofMillis(100);

  private final TimerScheduler<T> timers;
  private final T due;
  private long earliest = System.nanoTime();

  /**
   * A pace without a checkpoint so far.
   *
   * @param due is sent when it is time for one
   */
  CheckpointPace(TimerScheduler<T> timers, T due) {
    this.timers = timers;
    this.due = due;
  }

  /** Readers wait for what a core gave; cores that end together share a checkpoint. */
  void coreEnded() {
    remind(CORE_ENDED);
  }

  /** True where the last checkpoint was so dear that the next has to wait; it is due then. */
  boolean tooEarly() {
    long wait = earliest - System.nanoTime();
    if (wait > 0) {
      remind(Duration.ofNanos(wait));
    }
    return wait > 0;
  }

  /** The state was written down, which took so many nanoseconds of the actor's time. */
  void took(long nanos) {
    earliest = System.nanoTime() + (SHARE - 1) * nanos;
  }

  private void remind(Duration delay) {
    if (!timers.isTimerActive(this)) {
      timers.startSingleTimer(this, due, delay);
    }
  }
}
