package dev.retstack.service.partition;

import dev.retstack.service.metrics.PartitionMeter;
import java.time.Duration;

/**
 * The checkpoints of a partition: the position of the last one, whether one is being written,
 * whether another must follow, and their cost. One at a time.
 */
final class CheckpointTurns {
  private final int chunksMax;
  private final PartitionMeter meter;
  private long beganNanos;
  private long takingNanos;
  private long writtenNanos = System.nanoTime();
  private long writtenOffset;
  private int chunks;
  private boolean onItsWay;
  private boolean again;

  /**
   * Turns without a checkpoint so far.
   *
   * @param chunksMax chunks from one to the next
   */
  CheckpointTurns(int chunksMax, PartitionPeers peers) {
    this.chunksMax = chunksMax;
    this.meter = peers.meter();
  }

  /** The partition begins with the checkpoint that reaches up to this offset. */
  void opened(long offset) {
    writtenOffset = offset;
    writtenNanos = System.nanoTime();
  }

  /** Up to where the last checkpoint that was written reaches. */
  long writtenOffset() {
    return writtenOffset;
  }

  /**
   * The changes were written down; the partition continues.
   *
   * @param cpuNanos of a processor that it took
   */
  void made(long changedBytes, long cpuNanos) {
    meter.checkpointMade(changedBytes);
    meter.stalledSince(beganNanos);
    takingNanos = cpuNanos;
  }

  /** Time since the last one was written, or since the opening. */
  Duration age() {
    return Duration.ofNanos(System.nanoTime() - writtenNanos);
  }

  /** Time that the one on its way has taken so far; zero where none is. */
  Duration pending() {
    return onItsWay ? Duration.ofNanos(System.nanoTime() - beganNanos) : Duration.ZERO;
  }

  /** A chunk was applied; true where it is time for a checkpoint. */
  boolean applied() {
    return ++chunks >= chunksMax;
  }

  /** True where one is on its way. */
  boolean isOnItsWay() {
    return onItsWay;
  }

  /** Requests another checkpoint after the present one. */
  void askAgain() {
    again = true;
  }

  /** Notes that a checkpoint begins. */
  void began() {
    onItsWay = true;
    chunks = 0;
    beganNanos = System.nanoTime();
  }

  /** There was nothing to write: the state is of no use any more. */
  void gaveUp() {
    onItsWay = false;
    again = false;
  }

  /**
   * The one on its way is written.
   *
   * @return true where another was asked for meanwhile
   */
  boolean written(LedgerThread.Committed done) {
    boolean follows = again;
    onItsWay = false;
    again = false;
    writtenOffset = done.nextOffset();
    writtenNanos = System.nanoTime();
    meter.checkpointWritten(writtenNanos - beganNanos);
    meter.checkpointCost(takingNanos + done.writingNanos(), done.sentBytes());
    return follows;
  }
}
