package dev.retstack.service.reconstruct;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * How far apart the checkpoints of each partition of a member are to be, so that those of all of
 * them together take a tenth of the processors' time. All have the one rhythm, whatever each costs:
 * none waits for ever behind others, and what one costs is borne by all.
 */
final class CheckpointRhythm {
  /** One part in so many. */
  private static final int SHARE = 10;

  /** So much at most is read again where a member dies, whatever checkpoints cost. */
  static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final int processors;
  private final LongAdder round = new LongAdder();

  /**
   * A rhythm of a member without partitions.
   *
   * @param processors that there are
   */
  CheckpointRhythm(int processors) {
    this.processors = processors;
  }

  /** A checkpoint of a partition costs so many nanoseconds of one processor more than before. */
  void dearer(long nanos) {
    round.add(nanos);
  }

  /** Nanoseconds from one checkpoint of a partition to its next. */
  long nanos() {
    return Math.clamp(round.sum() * SHARE / processors, 0, LONGEST_NANOS);
  }
}
