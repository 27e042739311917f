package dev.retstack.service.reconstruct;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/** Reminds a partition of its next checkpoint when {@link CheckpointSpacing} allows it. */
final class CheckpointPace<T> {
  /** Longest wait for the checkpoint that holds the end of a core, where that is affordable. */
  private static final Duration CORE_ENDED = Duration.ofMillis(100);

  private final TimerScheduler<T> timers;
  private final T due;
  private final LongSupplier wait;

  /**
   * A pace without a checkpoint so far.
   *
   * @param due is sent when it is time for one
   * @param wait nanoseconds until the next may be taken
   */
  CheckpointPace(TimerScheduler<T> timers, T due, LongSupplier wait) {
    this.timers = timers;
    this.due = due;
    this.wait = wait;
  }

  /** Readers wait for what a core gave; cores that end together share a checkpoint. */
  void coreEnded() {
    remind(CORE_ENDED);
  }

  /** True where the last checkpoint was so dear that the next has to wait; it is due then. */
  boolean tooEarly() {
    long nanos = wait.getAsLong();
    if (nanos > 0) {
      remind(Duration.ofNanos(nanos));
    }
    return nanos > 0;
  }

  private void remind(Duration delay) {
    if (!timers.isTimerActive(this)) {
      timers.startSingleTimer(this, due, delay);
    }
  }
}
