package dev.retstack.service.partition;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * CPU time of the calling thread, in nanoseconds from an arbitrary point. So the cost of work does
 * not depend on other load of the machine. Platform threads only.
 */
final class CpuClock {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final boolean KNOWN =
      THREADS.isCurrentThreadCpuTimeSupported() && THREADS.isThreadCpuTimeEnabled();

  private CpuClock() {}

  /** The time now; that of the wall where the JVM does not know it. */
  static long nanos() {
    return KNOWN ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
  }
}
