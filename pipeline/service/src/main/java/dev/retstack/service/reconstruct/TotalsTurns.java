package dev.retstack.service.reconstruct;

import java.time.Duration;

/**
 * With which checkpoints the totals that changed go out. All of a large profile changes all the
 * time, and publishing it costs many times what writing the state down does; so while cores run it
 * goes out now and then, when a core ended with the next checkpoint, and never beyond its share.
 * Times are those of {@link System#nanoTime}.
 */
final class TotalsTurns {
  private final long intervalNanos;
  private final WorkShare share;
  private long toldOffset;
  private long toldNanos;
  private boolean toldOnce;
  private boolean left;
  private boolean lastTold;
  private boolean coreEnded;
  private boolean over;

  /**
   * Turns of a partition that is not open yet.
   *
   * @param interval from one to the next while cores run
   * @param share of all partitions of the member
   */
  TotalsTurns(Duration interval, WorkShare share) {
    this.intervalNanos = interval.toNanos();
    this.share = share;
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

  /** Something changed that the offset does not tell of. */
  void changed() {
    left = true;
  }

  /** True where totals may have changed that are not told. */
  boolean areBehind(long nextOffset) {
    return left || nextOffset != toldOffset;
  }

  /** The last checkpoint here is taken: what it leaves, the next owner tells. */
  void end() {
    over = true;
  }

  /** True where a last checkpoint is to go out for them. */
  boolean areOwed(long nextOffset) {
    return !over && areBehind(nextOffset);
  }

  /** True where they are to go out with a checkpoint that is taken now. */
  boolean isTurn(long nextOffset, long now) {
    boolean due = coreEnded || left || !toldOnce || now - toldNanos >= intervalNanos;
    return areBehind(nextOffset) && due && share.isFree(now);
  }

  /**
   * They go out with this checkpoint.
   *
   * @param more whether some are left to the next
   * @param nanos of a processor that looking for their rows took
   */
  void told(boolean more, long nextOffset, long nanos, long now) {
    share.took(nanos, now);
    toldOffset = nextOffset;
    toldNanos = now;
    toldOnce = true;
    left = more;
    coreEnded = false;
    lastTold = true;
  }

  /** What went out with the last checkpoint took so much of a processor to make and send. */
  void sent(long nanos, long now) {
    if (lastTold) {
      share.took(nanos, now);
      lastTold = false;
    }
  }
}
