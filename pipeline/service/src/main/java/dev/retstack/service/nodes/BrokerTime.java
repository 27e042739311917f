package dev.retstack.service.nodes;

/**
 * Time that advances with the records of a topic with the broker's time stamps. Brokers' clocks
 * differ, and another broker leads after a failure, so time stamps may jump by hours. Only the
 * difference from one record to the next counts. It never goes back, and no step exceeds a bound.
 */
final class BrokerTime {
  private final long longestStep;
  private long now;
  private long last;
  private boolean begun;

  /** A time that advances by no more than the silence after which a member is gone. */
  BrokerTime() {
    this(NodeTable.EXPIRY_MILLIS + 1);
  }

  /** A time that advances by no more than this from one record to the next, in milliseconds. */
  BrokerTime(long longestStep) {
    this.longestStep = longestStep;
  }

  /**
   * Moves to a record.
   *
   * @param millis its time stamp
   * @return the time now, from 0 at the first record
   */
  long at(long millis) {
    if (begun) {
      now += Math.clamp(millis - last, 0, longestStep);
    }
    begun = true;
    last = millis;
    return now;
  }

  /** The time of the last record. */
  long now() {
    return now;
  }
}
