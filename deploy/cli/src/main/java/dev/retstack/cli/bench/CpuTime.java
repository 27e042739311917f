package dev.retstack.cli.bench;

import java.lang.management.ManagementFactory;

/** CPU time of this process, all threads, garbage collector and compilers included. */
final class CpuTime {
  private static final com.sun.management.OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

  private CpuTime() {}

  /** Nanoseconds since the process began. */
  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
