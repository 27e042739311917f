package dev.retstack.benchmarks.measure;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time, user and system. */
public final class CpuTime {
  private static final com.sun.management.OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private CpuTime() {}

  /** Nanoseconds that this thread alone has run. */
  public static long ofThisThread() {
    return THREADS.getCurrentThreadCpuTime();
  }

  /** Nanoseconds of all threads, garbage collector and compilers included. */
  public static long ofThisProcess() {
    return SYSTEM.getProcessCpuTime();
  }
}
