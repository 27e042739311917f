package dev.retstack.graph.calls;

import dev.retstack.graph.limits.StateBudget;

/**
 * How many frames the ret_stacks of one core may still take, all together. It bounds the memory of
 * a core whose records open many deep stacks.
 */
final class FrameBudget {
  /** A row of {@link Frames}. */
  private static final int FRAME_BYTES = 128;

  /** Frames that a core has whatever room there is: one that wakes without any would be deaf. */
  private static final int ALWAYS = 32;

  private final StateBudget.Account account;
  private int left;

  /** Frames that all stacks have room for. */
  private int all;

  /**
   * @param frames beyond those that each stack may have anyway
   */
  FrameBudget(int frames, StateBudget.Account account) {
    this.left = frames;
    this.account = account;
  }

  int left() {
    return left;
  }

  /** Frames that a stack which may have so many beside may grow by. */
  int room(int beside) {
    long fit = Math.max(account.room() / FRAME_BYTES, ALWAYS - all);
    return (int) Math.max(0, Math.min((long) beside + left, fit));
  }

  /**
   * The room of a stack changes.
   *
   * @param before frames that it had room for, of which {@code countedBefore} were of these
   */
  void resize(int before, int countedBefore, int now, int countedNow) {
    long more = bytes(now) - bytes(before);
    if (more > 0) {
      account.charge(more);
    } else {
      account.give(-more);
    }
    left += countedBefore - countedNow;
    all += now - before;
  }

  private long bytes(int frames) {
    return account.array((long) frames * FRAME_BYTES);
  }
}
