package dev.retstack.service.reconstruct;

/**
 * How long a partition has to wait for its next checkpoint. It holds the whole state, so that its
 * cost grows with the cores that the partition has seen: a bigger one is written less often. Times
 * are those of {@link System#nanoTime}.
 */
final class CheckpointSpacing {
  /** Standing still for checkpoints takes one part of a partition's time in so many. */
  private static final int STALL_SHARE = 20;

  private final CheckpointRhythm rhythm;
  private boolean tookOne;
  private long tookAt;
  private long stallPaidAt;
  private long taking;
  private long last;
  private long counted;

  /**
   * The spacing of a partition without a checkpoint so far.
   *
   * @param rhythm of all partitions of the member
   */
  CheckpointSpacing(CheckpointRhythm rhythm) {
    this.rhythm = rhythm;
  }

  /**
   * The state was written down, until now.
   *
   * @param stall nanoseconds that the partition stood still for it
   * @param cpu nanoseconds of a processor that it took
   */
  void took(long stall, long cpu, long now) {
    tookOne = true;
    tookAt = now;
    stallPaidAt = now + (STALL_SHARE - 1) * stall;
    taking = cpu;
  }

  /**
   * What was taken last is packed and sent, for so many nanoseconds of a processor more.
   *
   * @return what the checkpoint took in all
   */
  long wrote(long cpu) {
    long cost = taking + cpu;
    count(Math.min(last, cost)); // the first ones are dear, before the JVM has compiled their code
    last = cost;
    return cost;
  }

  /** The partition takes no checkpoints here any more. */
  void end() {
    count(0);
  }

  private void count(long nanos) {
    rhythm.dearer(nanos - counted);
    counted = nanos;
  }

  /** Nanoseconds until the next may be taken; none where that is now. */
  long waits(long now) {
    if (!tookOne) {
      return 0;
    }
    return Math.max(0, Math.max(stallPaidAt - now, tookAt + rhythm.nanos() - now));
  }
}
