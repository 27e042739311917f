package dev.retstack.fleet.probe;

import dev.retstack.schema.ClockUnit;

/** The clock of the times in a core's records. It never runs backwards. */
public interface TraceClock {
  /** The time, in {@link #unit()}. */
  long now();

  ClockUnit unit();
}
