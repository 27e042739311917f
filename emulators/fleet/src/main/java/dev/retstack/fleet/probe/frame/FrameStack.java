package dev.retstack.fleet.probe.frame;

/**
 * The hijacked returns of one context, outermost first: all that is known of an open frame,
 * whichever probe keeps it.
 */
public interface FrameStack {
  /** Frames that are open. */
  int size();

  /** Those of them that leave records. */
  int visible();

  /** Address that identifies the function of a frame. */
  long selfPc(int frame);

  /** Address of the word that was hijacked; 0 where it was a register, or is not known any more. */
  long slot(int frame);

  /** True for a frame that leaves no records. */
  boolean isHidden(int frame);

  /** Address of the slot of an open frame. */
  long retP(int frame);

  /** Where an open frame returns to: a handler slot where it took the place of the one below. */
  long fromPc(int frame);

  /** Where an open frame returns, as the probe numbers it. */
  int place(int frame);

  /** True where the frame below an open one gave way to it by a tail call. */
  boolean isTail(int frame);

  /** Drops the frames above the lowest {@code frames}. Records do not show it yet. */
  void truncate(int frames);

  /** The time of the entry of a frame. */
  long time(int frame);

  /** fp at the entry of a frame. */
  long fp(int frame);

  /** Open frames whose entry is recorded: all but some of the topmost. */
  int recorded();

  /**
   * Open frames by the records: more than {@link #recorded} where some left without a record since.
   */
  int shown();

  /**
   * Number of the lowest frames that the records do not know, because the stack began anew for
   * them.
   */
  int unknown();

  /** For the records the stack begins anew: they do not know the frames that are open now. */
  void beginAnew();

  /** A record shows that the frames from this one on are gone. */
  void showExit(int frame);

  /** What is to be known of an open frame that is taken for dead; its task is 0. */
  GivenUp.Frame givenUp(int frame);

  /** Frames that are kept, open or not: those from {@link #size()} on were left last. */
  int kept();

  /**
   * Open frames whose function has not ended. A function that others had given way to may have
   * returned: their own exits follow at once, but a chunk may end between them.
   */
  default int live() {
    int size = size();
    boolean hasReturned = size > 0 && size < kept() && isTail(size) && time(size) >= time(size - 1);
    return hasReturned ? first(size - 1) : size;
  }

  /** Index of the frame that gave way to a frame at last. */
  default int first(int frame) {
    int first = frame;
    while (first > 0 && isTail(first)) {
      first--;
    }
    return first;
  }

  /** Index of the frame that a frame gave way to at last: its own where it did not. */
  default int last(int frame) {
    int last = frame;
    while (last + 1 < size() && isTail(last + 1)) {
      last++;
    }
    return last;
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
