package dev.retstack.benchmarks.measure;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * CPU time of this process by what its threads are there for, as Linux counts it per thread. A
 * thread's time is gone with the thread: what no living thread accounts for is that of the fleet,
 * whose threads end with each run.
 */
public final class CpuShares {
  /** What a thread is there for. */
  public enum Part {
    /** Emulation, probe and packing. */
    FLEET("fleet"),
    /** Streams, unpacking, reconstruction, aggregation. */
    PIPELINE("pipeline"),
    /** Clients of Kafka in this process. */
    KAFKA_CLIENTS("kafkaClients"),
    /** The JVM's compilers. */
    COMPILERS("compilers"),
    /** Collector and other service threads of the JVM. */
    JVM("jvm"),
    /** The broker's process. */
    BROKER("broker");

    private final String label;

    Part(String label) {
      this.label = label;
    }

    /** Name of this share in the figures, such as {@code fleet}. */
    public String label() {
      return label;
    }
  }

  private static final Path TASKS = Path.of("/proc/self/task");

  /** Kernel ticks of {@code stat}, the same on all ports of Linux that Java runs on. */
  private static final long TICK_NANOS = 10_000_000;

  /** Fields of {@code stat} behind the name, which ends with the last parenthesis. */
  private static final int USER = 11;

  private static final int SYSTEM = 12;

  private CpuShares() {}

  /**
   * CPU nanoseconds since the start of the process; empty where this is not Linux.
   *
   * @param broker process of the broker, or 0 where it is somebody else's
   */
  public static Map<Part, Long> now(long broker) throws IOException {
    Map<Part, Long> shares = new EnumMap<>(Part.class);
    if (!Files.isDirectory(TASKS)) {
      return shares;
    }
    long rest = CpuTime.ofThisProcess();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        Part part = part(read(task.resolve("comm")));
        if (part != Part.FLEET) {
          long nanos = nanos(read(task.resolve("stat")));
          shares.merge(part, nanos, Long::sum);
          rest -= nanos;
        }
      }
    }
    shares.put(Part.FLEET, rest);
    shares.put(
        Part.BROKER,
        ProcessHandle.of(broker)
            .flatMap(process -> process.info().totalCpuDuration())
            .map(Duration::toNanos)
            .orElse(0L));
    return shares;
  }

  /** By the first letters of the thread's name, of which the kernel keeps 15. */
  private static Part part(String name) {
    if (name.startsWith("fleet-")) {
      return Part.FLEET;
    }
    if (name.startsWith("C1 ") || name.startsWith("C2 ")) {
      return Part.COMPILERS;
    }
    if (name.startsWith("kafka-") || name.startsWith("retstack-images")) {
      return Part.KAFKA_CLIENTS;
    }
    if (name.startsWith("retstack-") || name.startsWith("ForkJoin")) {
      return Part.PIPELINE;
    }
    return Part.JVM;
  }

  private static long nanos(String stat) {
    if (stat.isEmpty()) {
      return 0;
    }
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[USER]) + Long.parseLong(fields[SYSTEM])) * TICK_NANOS;
  }

  /** Nothing where the thread has just ended. */
  private static String read(Path file) throws IOException {
    try {
      return Files.readString(file).strip();
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      if (Files.exists(file)) {
        throw e;
      }
      return "";
    }
  }
}
