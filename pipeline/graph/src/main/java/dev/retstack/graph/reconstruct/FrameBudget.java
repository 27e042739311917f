package dev.retstack.graph.reconstruct;

/**
 * Frames that the ret_stacks of one core may still be enlarged by, all together: a stream that
 * opens many deep stacks cannot make a core grow without end.
 */
final class FrameBudget {
  private int left;

  /**
   * @param frames beyond those that each stack has room for from its beginning
   */
  FrameBudget(int frames) {
    left = frames;
  }

  int left() {
    return left;
  }

  /** Takes so many frames, or as many as there are. */
  int take(int wanted) {
    int taken = Math.min(wanted, left);
    left -= taken;
    return taken;
  }

  /** Takes back what a stack that is over had taken. */
  void give(int frames) {
    left += frames;
  }
}
