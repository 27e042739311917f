package dev.retstack.fleet.core;

import dev.retstack.schema.ClockUnit;

/** What the times of a core's records are read from. Never runs backwards. */
public interface TraceClock {
  /** The time, in {@link #unit()}. */
  long now();

  ClockUnit unit();
}
