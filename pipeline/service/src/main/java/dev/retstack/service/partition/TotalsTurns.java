package dev.retstack.service.partition;

import java.time.Duration;

/**
 * Decides with which checkpoints changed totals are published. All rows of a busy profile change
 * all the time, and publishing them costs many times as much as the state. So they are published at
 * a plain interval while cores run.
 *
 * <p>Two things are published earlier: what an ended core gave, and rows that had no room in one
 * checkpoint. Both wait for a pause in proportion to the rows that were published last. So rows per
 * second are bounded, whatever the profile's size. Times are those of {@link System#nanoTime}.
 */
final class TotalsTurns {
  /** Publishing a row takes a hundredth of this of one processor. */
  private static final long NANOS_PER_ROW = 600_000;

  private final long intervalNanos;
  private long toldOffset;
  private long toldNanos;
  private long pauseNanos;
  private boolean toldOnce;
  private boolean left;
  private boolean coreEnded;
  private boolean over;

  /**
   * Turns of a partition that is not open yet.
   *
   * @param interval from one to the next while cores run
   */
  TotalsTurns(Duration interval) {
    this.intervalNanos = interval.toNanos();
  }

  /** The state was loaded, up to this offset; an earlier owner may have owed some of its totals. */
  void opened(long nextOffset) {
    toldOffset = nextOffset;
    left = nextOffset > 0;
  }

  /** A core ended: readers wait for what it gave. */
  void coreEnded() {
    coreEnded = true;
  }

  /** Something changed that does not move the offset. */
  void changed() {
    left = true;
  }

  /** True if totals may have changed that are not published. */
  boolean areBehind(long nextOffset) {
    return left || nextOffset != toldOffset;
  }

  /** The last checkpoint of this owner is taken: the next owner publishes what it leaves. */
  void end() {
    over = true;
  }

  /** True if a last checkpoint must be written for them. */
  boolean areOwed(long nextOffset) {
    return !over && areBehind(nextOffset);
  }

  /** True if they are to be published with a checkpoint that is taken now. */
  boolean isTurn(long nextOffset, long now) {
    boolean early = (coreEnded || left) && now - toldNanos >= pauseNanos;
    return areBehind(nextOffset) && (!toldOnce || early || now - toldNanos >= intervalNanos);
  }

  /**
   * Notes that totals are published with this checkpoint.
   *
   * @param rows that it publishes
   * @param more whether some are left to the next
   */
  void published(int rows, boolean more, long nextOffset, long now) {
    toldOffset = nextOffset;
    toldNanos = now;
    pauseNanos = rows * NANOS_PER_ROW;
    toldOnce = true;
    left = more;
    coreEnded = false;
  }
}
