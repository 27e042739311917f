package dev.retstack.graph.places;

/**
 * Where some chunks of a core stand in a partition of the log, one or several near each other.
 * Records of other cores may lie between them.
 *
 * @param offset of the first of them
 * @param lastOffset of the last of them
 * @param sequence number of the first of them
 * @param recordsBefore records of the core before the first of them
 * @param firstTime the earliest time, in the core's clock unit
 * @param lastTime the latest time
 * @param keyframe whether the first of them has a keyframe
 */
public record Place(
    long offset,
    long lastOffset,
    long sequence,
    long recordsBefore,
    long firstTime,
    long lastTime,
    boolean keyframe) {
  /** Before all others. */
  static final Place NONE = new Place(0, 0, 0, 0, 0, 0, false);

  /** A place of one chunk. */
  public static Place of(
      long offset,
      long sequence,
      long recordsBefore,
      long firstTime,
      long lastTime,
      boolean keyframe) {
    return new Place(offset, offset, sequence, recordsBefore, firstTime, lastTime, keyframe);
  }

  /** This one and one behind it. */
  Place and(Place next) {
    return new Place(
        offset,
        next.lastOffset,
        sequence,
        recordsBefore,
        Math.min(firstTime, next.firstTime),
        Math.max(lastTime, next.lastTime),
        keyframe);
  }
}
