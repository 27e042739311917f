package dev.retstack.fleet.core.interrupt;

import java.util.List;

/**
 * Decides when which timer interrupts: a pure function of virtual time, of what the program masks,
 * and of the calls made here. It knows no engine.
 *
 * <p>A timer is due at the multiples of its period. If it is due while interrupts are masked, or
 * while a handler runs, it stays pending once. The time of a handler does not make its own timer
 * due again: the next multiple after its end counts. Between two interrupts at least one block of
 * the program runs, so that it makes progress whatever the periods.
 */
final class InterruptSchedule {
  /** No timer. */
  static final int NONE = -1;

  private static final long NEVER = -1;

  private final long[] periods;
  private final long[] next;
  private boolean masked;
  private long endOfLast = NEVER;

  /**
   * Timers that have not run.
   *
   * @param masked true where the program switches interrupts on itself
   */
  InterruptSchedule(List<InterruptTimer> timers, boolean masked) {
    periods = timers.stream().mapToLong(InterruptTimer::period).toArray();
    next = periods.clone();
    this.masked = masked;
  }

  /**
   * The timer that interrupts before the instruction at this time, if the place allows it; of
   * several the one of the lowest number.
   */
  int due(long now) {
    if (masked || now == endOfLast) {
      return NONE;
    }
    for (int i = 0; i < next.length; i++) {
      if (next[i] <= now) {
        return i;
      }
    }
    return NONE;
  }

  /** Instructions after which to ask again: at least 1. */
  long ask(long now) {
    long wait = Long.MAX_VALUE;
    for (int i = 0; !masked && i < next.length; i++) {
      wait = Math.min(wait, next[i] - now);
    }
    return Math.max(1, wait);
  }

  /** An interrupt began: no others until it ends. */
  void enter() {
    masked = true;
  }

  /**
   * An interrupt ended.
   *
   * @param timer that made it; {@link #NONE}: the program itself
   * @param nowMasked whether interrupts are masked where the program continues
   */
  void exit(int timer, long now, boolean nowMasked) {
    masked = nowMasked;
    endOfLast = now;
    if (timer != NONE) {
      next[timer] = (now / periods[timer] + 1) * periods[timer];
    }
  }

  /** The program masks interrupts, or no longer. */
  void mask(boolean value) {
    masked = value;
  }

  boolean masked() {
    return masked;
  }
}
