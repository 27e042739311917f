package dev.retstack.service.reconstruct;

/**
 * The checkpoints of a partition: up to where the last one reaches, whether one is on its way, and
 * whether another must follow it. One at a time.
 */
final class CheckpointTurns {
  private final int chunksMax;
  private long writtenOffset;
  private int chunks;
  private boolean onItsWay;
  private boolean again;

  /**
   * Turns without a checkpoint so far.
   *
   * @param chunksMax chunks from one to the next
   */
  CheckpointTurns(int chunksMax) {
    this.chunksMax = chunksMax;
  }

  /** The partition begins with the checkpoint that reaches up to this offset. */
  void opened(long offset) {
    writtenOffset = offset;
  }

  /** Up to where the last checkpoint that was written reaches. */
  long writtenOffset() {
    return writtenOffset;
  }

  /** A chunk was applied; true where it is time for a checkpoint. */
  boolean applied() {
    return ++chunks >= chunksMax;
  }

  /** True where one is on its way. */
  boolean isOnItsWay() {
    return onItsWay;
  }

  /** Another must follow the one that is on its way. */
  void askAgain() {
    again = true;
  }

  /** One begins. */
  void began() {
    onItsWay = true;
    chunks = 0;
  }

  /**
   * The one on its way is written.
   *
   * @param nextOffset of the partition by now
   * @return true where another must follow
   */
  boolean written(long offset, long nextOffset) {
    boolean follows = again && nextOffset != offset;
    onItsWay = false;
    again = false;
    writtenOffset = offset;
    return follows;
  }
}
