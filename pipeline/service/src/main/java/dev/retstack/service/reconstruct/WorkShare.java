package dev.retstack.service.reconstruct;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of the processors' time some work may take, whoever of a process does it. It may begin
 * while what was done is paid for, and pays afterwards: who comes then waits. Times are those of
 * {@link System#nanoTime}.
 */
public final class WorkShare {
  /** One part in so many. */
  private static final int SHARE = 50;

  private final int processors;
  private final AtomicLong paidAt;

  /**
   * A share of which nothing is used.
   *
   * @param processors that there are
   */
  WorkShare(int processors, long now) {
    this.processors = processors;
    this.paidAt = new AtomicLong(now);
  }

  /** A fiftieth of the processors of this machine. */
  public static WorkShare fiftieth() {
    return new WorkShare(Runtime.getRuntime().availableProcessors(), System.nanoTime());
  }

  /** True where all that was done is paid for. */
  boolean isFree(long now) {
    return now - paidAt.get() >= 0;
  }

  /** So many nanoseconds of one processor were taken, until now. */
  void took(long nanos, long now) {
    long pay = nanos * SHARE / processors;
    paidAt.updateAndGet(paid -> (now - paid > 0 ? now : paid) + pay);
  }
}
