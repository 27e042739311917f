package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** The disk of one broker is full: it dies and says why; the others go on; it comes back. */
final class FullDisk {
  private static final int MIB = 1 << 20;
  private static final Duration DIES = Duration.ofMinutes(2);

  /** A file system of its own for a broker, of this size at most. */
  static final int SIZE_MIB = 1024;

  private final Job job;
  private final int broker;
  private final Duration patience;

  /**
   * A disk to be filled.
   *
   * @param broker whose data are on a file system of their own
   */
  FullDisk(Job job, int broker, Duration patience) {
    this.job = job;
    this.broker = broker;
    this.patience = patience;
  }

  /**
   * Mounts a file system in memory; false where that is not allowed.
   *
   * @param processes unmounts it if this process ends before its time
   */
  static boolean mount(Processes processes, Path folder) throws Exception {
    Files.createDirectories(folder);
    Process mount =
        new ProcessBuilder(
                "mount", "-t", "tmpfs", "-o", "size=" + SIZE_MIB + "m", "tmpfs", folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (mount.waitFor() != 0) {
      return false;
    }
    processes.atTheEnd("umount -l " + folder);
    return true;
  }

  /** Takes it away again. */
  static void unmount(Path folder) throws IOException {
    var _ = new ProcessBuilder("umount", "-l", folder.toString()).start().onExit().join();
  }

  /** Fills the disk so many times; returns the figures. */
  String run(int times, TestFleet fleet) throws Exception {
    BrokerCluster brokers = job.brokers();
    Path filler = brokers.data(broker).resolveSibling("filler");
    long slowest = 0;
    for (int i = 0; i < times; i++) {
      fleet.run(1_000);
      Map<Integer, Long> before = job.positions();
      fill(filler);
      long full = System.nanoTime();
      awaitDeath(brokers, broker, fleet);
      slowest = Math.max(slowest, job.awaitFlow(before, full, fleet, patience));
      Files.delete(filler);
      brokers.start(broker);
      brokers.awaitAll();
    }
    return "disk full %d times; the other brokers go on after %.1f s at most; in step again after room was made"
        .formatted(times, slowest / 1e3);
  }

  /** Returns when a broker with a full disk is dead, and has said why. */
  static void awaitDeath(BrokerCluster brokers, int broker, TestFleet fleet) throws Exception {
    long full = System.nanoTime();
    while (brokers.isAlive(broker)) {
      if (System.nanoTime() - full > DIES.toNanos()) {
        throw new AssertionError("broker %d goes on with a full disk".formatted(broker));
      }
      fleet.run(100);
    }
    assertThat(Files.readString(brokers.log(broker))).contains("No space left on device");
  }

  /** Writes until there is no room. */
  static void fill(Path file) throws IOException {
    byte[] block = new byte[MIB];
    try (OutputStream out = Files.newOutputStream(file)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
  }
}
