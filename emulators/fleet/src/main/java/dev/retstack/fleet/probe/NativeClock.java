package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.TraceClock;
import dev.retstack.schema.ClockUnit;

/** The virtual time of a core whose probe is in C. */
final class NativeClock implements TraceClock {
  private final NativeCore core;
  private long last;
  private boolean stopped;

  NativeClock(NativeCore core) {
    this.core = core;
  }

  /** The memory of the core is about to go: time stands still. */
  void stop() {
    last = core.now();
    stopped = true;
  }

  @Override
  public long now() {
    return stopped ? last : core.now();
  }

  @Override
  public ClockUnit unit() {
    return ClockUnit.INSTRUCTIONS;
  }
}
