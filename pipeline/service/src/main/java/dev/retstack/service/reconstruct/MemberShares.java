package dev.retstack.service.reconstruct;

/**
 * How much of the processors' time the partitions of a member take, all together, for what is not
 * reading events.
 *
 * @param totals for publishing totals
 * @param checkpoints for writing states down
 */
public record MemberShares(WorkShare totals, CheckpointRhythm checkpoints) {
  /** Those of a member that has the processors of this machine. */
  public static MemberShares ofThisMachine() {
    return new MemberShares(
        WorkShare.fiftieth(), new CheckpointRhythm(Runtime.getRuntime().availableProcessors()));
  }
}
