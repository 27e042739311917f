package dev.retstack.graph.input;

/** Unit of times and durations; the constants carry the names of the wire. */
public enum ClockUnit {
  /** Guest instructions executed, the tracer's own excluded: virtual time. */
  INSTRUCTIONS,
  /** Time of the host's monotonic clock. */
  NANOSECONDS
}
