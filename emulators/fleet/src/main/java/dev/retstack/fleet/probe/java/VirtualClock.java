package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.schema.ClockUnit;

/**
 * Counts the guest instructions executed, except those of the tracer: the counting function and the
 * landing page take no time. The same image with the same input gives the same times on any host.
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

  /**
   * Advances by a number of instructions; back, if it is negative, where they were counted too
   * early.
   */
  void advance(int count) {
    instructions += count;
  }
}
