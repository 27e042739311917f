package dev.retstack.fleet.probe;

import dev.retstack.schema.ClockUnit;

/** Nanoseconds of the host's monotonic clock since the core was opened. */
public final class HostClock implements TraceClock {
  private final long origin = System.nanoTime();

  /** What {@link System#nanoTime} was when the core was opened. */
  public long origin() {
    return origin;
  }

  @Override
  public long now() {
    return System.nanoTime() - origin;
  }

  @Override
  public ClockUnit unit() {
    return ClockUnit.NANOSECONDS;
  }
}
