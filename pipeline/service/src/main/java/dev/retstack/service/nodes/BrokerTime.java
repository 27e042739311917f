package dev.retstack.service.nodes;

/**
 * Time that goes on with the records of a topic whose time is the broker's. Brokers' clocks differ,
 * and another one leads after a failure, so that time stamps may jump by hours: what counts is how
 * far they go on from one record to the next. It never goes back, and no step is longer than a
 * bound.
 */
final class BrokerTime {
  private final long longestStep;
  private long now;
  private long last;
  private boolean begun;

  /** A time that goes on by no more than what makes a silent member count as gone. */
  BrokerTime() {
    this(NodeTable.EXPIRY_MILLIS + 1);
  }

  /** A time that goes on by no more than this from one record to the next, in milliseconds. */
  BrokerTime(long longestStep) {
    this.longestStep = longestStep;
  }

  /**
   * Goes on to a record.
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
