package dev.retstack.service.reconstruct;

import dev.retstack.graph.reconstruct.StateBudget;

/**
 * What the partitions of a member share: of the processors' time, for what is not reading events,
 * and of memory.
 *
 * @param totals for publishing totals
 * @param state bytes that their states may hold
 */
public record MemberShares(WorkShare totals, StateBudget state) {
  /** Those of a member that has the processors of this machine. */
  public static MemberShares ofThisMachine(StateBudget state) {
    return new MemberShares(WorkShare.fiftieth(), state);
  }
}
