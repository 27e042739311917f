package dev.retstack.fleet.core;

import dev.retstack.schema.ClockUnit;

/**
 * Guest instructions executed, those of the tracer excluded: the counting function and the landing
 * page take no time. The same image with the same input gives the same times on any host.
 */
public final class VirtualClock implements TraceClock {
  private long instructions;

  @Override
  public long now() {
    return instructions;
  }

  @Override
  public ClockUnit unit() {
    return ClockUnit.INSTRUCTIONS;
  }

  /** Goes on by so many instructions; back, where they were counted too early. */
  void advance(int count) {
    instructions += count;
  }
}
