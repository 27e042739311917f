package dev.retstack.benchmarks.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What Linux says of a process, and what lies in a broker's folder. */
public final class ProcFiles {
  private ProcFiles() {}

  /** Memory of the machine that the process holds, in bytes. */
  public static long residentBytes(long pid) throws IOException {
    return status(pid, "VmRSS:") * 1024;
  }

  /** Number of threads of a process. */
  public static long threads(long pid) throws IOException {
    return status(pid, "Threads:");
  }

  /** Number of open file descriptors of a process. */
  public static long descriptors(long pid) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
      return open.count();
    }
  }

  private static long status(long pid, String field) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc", String.valueOf(pid), "status"))) {
      if (line.startsWith(field)) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("no " + field + " in the status of process " + pid);
  }

  /**
   * Bytes of the logs of each topic, without their indexes, which are preallocated.
   *
   * @param dir the folder of {@code retstack broker --dir}
   */
  public static Map<String, Long> topicBytes(Path dir) throws IOException {
    Map<String, Long> bytes = new TreeMap<>();
    try (Stream<Path> partitions = Files.list(dir.resolve("kafka"))) {
      for (Path partition : partitions.filter(Files::isDirectory).toList()) {
        String name = partition.getFileName().toString();
        int dash = name.lastIndexOf('-');
        if (dash > 0 && name.substring(dash + 1).chars().allMatch(Character::isDigit)) {
          bytes.merge(name.substring(0, dash), logBytes(partition), Long::sum);
        }
      }
    }
    return bytes;
  }

  private static long logBytes(Path partition) throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.list(partition)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".log")).toList()) {
        bytes += Files.size(file);
      }
    } catch (NoSuchFileException _) {
      // the log cleaner deleted it meanwhile: the next measurement counts without it
    }
    return bytes;
  }
}
