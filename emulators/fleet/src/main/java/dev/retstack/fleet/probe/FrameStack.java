package dev.retstack.fleet.probe;

/** The hijacked returns of one context, outermost first, as {@link Contexts} asks about them. */
interface FrameStack {
  /** Frames that are open. */
  int size();

  /** Those of them that leave records. */
  int visible();

  /** Address of the slot of an open frame. */
  long retP(int frame);

  /** Where an open frame returns to: a handler slot where it took the place of the one below. */
  long fromPc(int frame);

  /** Where an open frame returns, as the probe numbers it. */
  int place(int frame);

  /** True where the frame below an open one gave way to it by a tail call. */
  boolean isTail(int frame);

  /** Leaves so many frames. */
  void truncate(int frames);

  /** What is to be known of an open frame that is taken for dead; its task is 0. */
  GivenUp.Frame givenUp(int frame);

  /** Index of the frame that gave way to a frame at last. */
  default int first(int frame) {
    int first = frame;
    while (first > 0 && isTail(first)) {
      first--;
    }
    return first;
  }

  /**
   * The frame that returns through a place.
   *
   * @param place where the return arrived, as the probe numbers it
   * @param above the stack pointer after the return: the frame's slot lies below it
   * @return its index; where no open frame fits a dead one, at or above {@link #size()}; or -1
   */
  int find(int place, long above);
}
