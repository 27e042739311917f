package dev.retstack.machine.linux.signal;

import dev.retstack.machine.linux.thread.GuestThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The timers of a process: the three of {@code setitimer}, those of {@code timer_create}, and those
 * of {@code timerfd}.
 */
public final class VirtualTimers {
  /** {@code which} of {@code setitimer}. */
  public static final int REAL = 0;

  public static final int VIRTUAL = 1;
  public static final int PROF = 2;

  /** Most of {@code timer_create}. */
  public static final int MOST = 256;

  /** Time beyond all waits: 146 years. */
  private static final long FAR = 1L << 62;

  private final Signals signals;
  private final VirtualTimer[] interval;
  private final Map<Integer, VirtualTimer> created = new HashMap<>();
  private final List<VirtualTimer> armed = new ArrayList<>();
  private int ids;

  VirtualTimers(Signals signals, int alarm, int virtualAlarm, int profile) {
    this.signals = signals;
    interval =
        new VirtualTimer[] {
          new VirtualTimer(-1, false, alarm, 0, null),
          new VirtualTimer(-1, true, virtualAlarm, 0, null),
          new VirtualTimer(-1, true, profile, 0, null)
        };
  }

  /** A timer of {@code setitimer}. */
  public VirtualTimer interval(int which) {
    return interval[which];
  }

  /** A new one; null where there is no room. */
  public VirtualTimer create(boolean ofProcessor, int signal, long value, GuestThread target) {
    if (created.size() == MOST) {
      return null;
    }
    VirtualTimer timer = new VirtualTimer(ids, ofProcessor, signal, value, target);
    created.put(ids++, timer);
    return timer;
  }

  /** A new one that is read. */
  public VirtualTimer createRead() {
    return new VirtualTimer(VirtualTimer.READ, false, 0, 0, null);
  }

  /** How often one that is read has expired since then. */
  public long unread(VirtualTimer timer) {
    expire(timer, signals.nowNs());
    return timer.unread();
  }

  /** Forgets a timer that is read. */
  public void forget(VirtualTimer timer) {
    armed.remove(timer);
  }

  /** The id that the next one has. */
  public int nextId() {
    return ids;
  }

  /** A timer of {@code timer_create}; null where there is none. */
  public VirtualTimer created(int id) {
    return created.get(id);
  }

  /** Deletes a timer of {@code timer_create}. */
  public void delete(int id) {
    armed.remove(created.remove(id));
  }

  /** The time of the clock that a timer counts in. */
  public long now(VirtualTimer timer) {
    return timer.ofProcessor ? signals.coreNs() : signals.nowNs();
  }

  /**
   * Sets a timer.
   *
   * @param at of its clock; 0: off
   */
  public void set(VirtualTimer timer, long at, long every) {
    armed.remove(timer);
    boolean on = at > 0 && at < FAR;
    timer.set(on ? at : VirtualTimer.NEVER, every);
    if (on) {
      armed.add(timer);
    }
    signals.attend();
  }

  /** True where one is on. */
  boolean any() {
    return !armed.isEmpty();
  }

  /** How long until the first expires, whatever its clock: nanoseconds while the program runs. */
  long wait(long now, long coreNow) {
    long wait = VirtualTimer.NEVER;
    for (VirtualTimer timer : armed) {
      long left = timer.next() - (timer.ofProcessor ? coreNow : now);
      wait = timer.makesReady() ? Math.min(wait, left) : wait;
    }
    return wait;
  }

  /** When the first expires that somebody waits for, while nobody runs. */
  long nextAwaited() {
    long first = VirtualTimer.NEVER;
    for (VirtualTimer timer : armed) {
      boolean counts = !timer.ofProcessor && signals.wouldWake(timer);
      first = counts ? Math.min(first, timer.next()) : first;
    }
    return first;
  }

  /** Sends the signals of those that have expired. */
  void expire(long now, long coreNow) {
    for (VirtualTimer timer : List.copyOf(armed)) {
      expire(timer, timer.ofProcessor ? coreNow : now);
    }
  }

  private void expire(VirtualTimer timer, long now) {
    long times = timer.expire(now);
    if (timer.next() == VirtualTimer.NEVER) {
      armed.remove(timer);
    }
    if (times > 0) {
      signals.expired(timer, times);
    }
  }
}
