package dev.retstack.fleet.publish;

/**
 * The stat of backpressure: how often and how long cores stood still because a sink took nothing.
 * It is not a loss: the cores continued from there.
 *
 * @param now cores that stand still at this moment
 * @param times chunks that had to wait
 * @param nanos how long they waited, all together, those of this moment included
 */
public record SinkWaits(int now, long times, long nanos) {
  /** Of a sink that never lets a core wait, or does not count. */
  public static final SinkWaits NONE = new SinkWaits(0, 0, 0);

  /** The waits of two sinks together. */
  public SinkWaits plus(SinkWaits other) {
    return new SinkWaits(now + other.now, times + other.times, nanos + other.nanos);
  }
}
