package dev.retstack.machine.linux.signal;

import dev.retstack.machine.linux.thread.GuestThread;

/**
 * A timer of a program. Times are nanoseconds of its clock: of virtual time, an instruction each.
 */
public final class VirtualTimer {
  static final long NEVER = Long.MAX_VALUE;

  /** The id of those of {@code timerfd}. */
  static final int READ = -2;

  /**
   * Id of {@code timer_create}; -1 for {@code setitimer}, {@link #READ} for a timer that is read.
   */
  final int id;

  /** True where it counts only while the program runs. */
  final boolean ofProcessor;

  /** 0: it sends none. */
  final int signal;

  /** {@code sigev_value}. */
  final long value;

  /** Thread that gets the signal; null: the process. */
  final GuestThread target;

  private long next = NEVER;
  private long interval;

  /** Expirations of a timer that is read: since the last read, and in all. */
  private long unread;

  private long changes;

  /** Expirations since its signal was sent. */
  int overrun;

  /** Overrun of the last signal that was delivered. */
  int delivered;

  VirtualTimer(int id, boolean ofProcessor, int signal, long value, GuestThread target) {
    this.id = id;
    this.ofProcessor = ofProcessor;
    this.signal = signal;
    this.value = value;
    this.target = target;
  }

  /** Sets the time at which it expires, and then each interval; {@link #NEVER}: it is off. */
  void set(long at, long every) {
    next = at;
    interval = every;
    overrun = 0;
    unread = 0;
  }

  /** How often it has expired in all. */
  public long changes() {
    return changes;
  }

  /** What it counted was read. */
  public void forget() {
    unread = 0;
  }

  void count(long times) {
    unread += times;
    changes += times;
  }

  long unread() {
    return unread;
  }

  /** False for one that is read and has expired: the next time changes nothing for who waits. */
  boolean makesReady() {
    return id != READ || unread == 0;
  }

  /** When it expires next. */
  long next() {
    return next;
  }

  /** How long until then; 0: it is off. */
  public long left(long now) {
    return next == NEVER ? 0 : Math.max(1, next - now);
  }

  public long interval() {
    return interval;
  }

  /** What {@code timer_getoverrun} says. */
  public int overruns() {
    return delivered;
  }

  /** How often it has expired by now. It continues with the next time. */
  long expire(long now) {
    if (next > now) {
      return 0;
    }
    if (interval == 0) {
      next = NEVER;
      return 1;
    }
    long times = (now - next) / interval + 1;
    next = next > NEVER - 1 - times * interval ? NEVER : next + times * interval;
    return times;
  }
}
