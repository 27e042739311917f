package dev.retstack.service.reconstruct;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Time of a processor that the calling thread had, in nanoseconds from an arbitrary point. What a
 * piece of work costs does not depend by it on what else the machine does. Platform threads only.
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
