package dev.retstack.cli.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time of this process, all threads, garbage collector and compilers included. */
final class CpuTime {
  private static final com.sun.management.OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

  private CpuTime() {}

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** Nanoseconds that this thread alone has run. */
  static long ofThisThread() {
    return THREADS.getCurrentThreadCpuTime();
  }

  /** Nanoseconds since the process began. */
  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
