package dev.retstack.cli.doctor;

import java.lang.management.ManagementFactory;
import java.util.List;

/** The JVM this runs on: its version and the flags that the libraries ask for. */
final class JvmChecks {
  private static final int FEATURE_NEEDED = 25;
  private static final long MEMORY_NEEDED_MIB = 2048;

  private JvmChecks() {}

  static List<Finding> run() {
    return List.of(jdk(), flags(), memory());
  }

  private static Finding jdk() {
    String found = Runtime.version() + " in " + System.getProperty("java.home");
    return Runtime.version().feature() >= FEATURE_NEEDED
        ? Finding.ok("jdk", found)
        : Finding.missing("jdk", found, "install JDK 25 and start with ./retstack, which finds it");
  }

  private static Finding flags() {
    boolean nativeAccess = JvmChecks.class.getModule().isNativeAccessEnabled();
    boolean avroPackages =
        System.getProperty("org.apache.avro.SERIALIZABLE_PACKAGES", "").contains("dev.retstack");
    return nativeAccess && avroPackages
        ? Finding.ok("jvm flags", "native access and Avro classes allowed")
        : Finding.warn(
            "jvm flags",
            "native access " + nativeAccess + ", Avro classes " + avroPackages,
            "start with ./retstack, which passes the flags");
  }

  private static Finding memory() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long totalMib = system.getTotalMemorySize() >> 20;
    long heapMib = Runtime.getRuntime().maxMemory() >> 20;
    String found = totalMib + " MiB, heap up to " + heapMib + " MiB";
    return totalMib >= MEMORY_NEEDED_MIB
        ? Finding.ok("memory", found)
        : Finding.warn(
            "memory", found, "the demo wants about " + MEMORY_NEEDED_MIB + " MiB: run fewer cores");
  }
}
