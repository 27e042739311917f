package dev.retstack.machine.linux.signal;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Signals that were sent and not delivered yet. Of those below the real-time ones only the first of
 * a number is kept.
 */
final class PendingSignals {
  /** Signals from here on are queued. */
  static final int REAL_TIME = 32;

  /** Most that are kept, as RLIMIT_SIGPENDING. */
  static final int MOST = 1024;

  private final List<SignalInfo> queue = new ArrayList<>();
  private long set;

  /** The bit of a signal in a set. */
  static long bit(int signal) {
    return 1L << (signal - 1);
  }

  /** Which there are. */
  long set() {
    return set;
  }

  /** False where there is no room. */
  boolean add(SignalInfo info) {
    if (info.signal() < REAL_TIME && (set & bit(info.signal())) != 0) {
      return true;
    }
    if (queue.size() == MOST) {
      return false;
    }
    queue.add(info);
    set |= bit(info.signal());
    return true;
  }

  /** True where a timer's signal waits. */
  boolean has(VirtualTimer timer) {
    return queue.stream().anyMatch(info -> info.timer() == timer);
  }

  /** The first of a signal's. */
  SignalInfo take(int signal) {
    SignalInfo taken = null;
    boolean more = false;
    for (Iterator<SignalInfo> all = queue.iterator(); all.hasNext() && !more; ) {
      SignalInfo info = all.next();
      if (info.signal() == signal) {
        more = taken != null;
        if (taken == null) {
          taken = info;
          all.remove();
        }
      }
    }
    set = more ? set : set & ~bit(signal);
    return taken;
  }

  /** All of a signal's are forgotten. */
  void drop(int signal) {
    queue.removeIf(info -> info.signal() == signal);
    set &= ~bit(signal);
  }
}
