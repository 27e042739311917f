package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.service.kafka.GroupProtocol;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Three brokers for one row, and how a row says what it did. Topics, group and members are the
 * job's.
 */
final class Stage implements AutoCloseable {
  /** More faults than a short form has. */
  private static final int MANY = 4;

  private final Path dir;
  private final Processes processes;
  private final BrokerCluster brokers;
  private final Map<Integer, Path> disks;

  private Stage(Path dir, Processes processes, Map<Integer, Path> disks) throws Exception {
    this.dir = dir;
    this.processes = processes;
    this.disks = disks;
    Map<Integer, Path> data = new HashMap<>();
    disks.forEach((broker, disk) -> data.put(broker, disk.resolve("broker")));
    try {
      this.brokers = new BrokerCluster(processes, dir.resolve("brokers"), data);
    } catch (Exception | AssertionError e) {
      close();
      throw e;
    }
  }

  /** Starts the brokers; returns when they serve. */
  static Stage open(Path dir) throws Exception {
    return new Stage(dir, new Processes(dir), Map.of());
  }

  /**
   * The same, some of them with a small disk of their own each, where that may be had.
   *
   * @param small those brokers
   */
  static Stage open(Path dir, List<Integer> small) throws Exception {
    Processes processes = new Processes(dir);
    Map<Integer, Path> disks = new HashMap<>();
    for (int broker : small) {
      Path disk = dir.resolve("disk-" + broker);
      if (FullDisk.mount(processes, disk)) {
        disks.put(broker, disk);
      }
    }
    return new Stage(dir, processes, disks);
  }

  /** Whether each of these brokers has a disk that can be filled. */
  boolean haveDisks(List<Integer> some) {
    return disks.keySet().containsAll(some);
  }

  /** Starts members under topics of this name; returns when each of them serves. */
  Job job(String name) throws Exception {
    return Job.start(processes, dir, brokers, name);
  }

  /** The same under this group protocol. */
  Job job(String name, GroupProtocol protocol) throws Exception {
    return Job.start(processes, dir, brokers, name, protocol);
  }

  /** Whether so many faults are a long form, which is held to times as well. */
  static boolean isLong(int faults) {
    return faults >= MANY;
  }

  /** Says what a row is about to do, and how to have the same again. */
  static void announce(String row, ChaosScript script) {
    int count = script.faults().size();
    System.out.println(
        "%s: -Dretstack.seed=%d %s"
            .formatted(
                row,
                script.seed(),
                isLong(count) ? "%d faults".formatted(count) : script.faults()));
  }

  /** Says a row's figures and what its members said, who must have met no defect of ours. */
  static void tell(String row, Job job, String figures) throws Exception {
    System.out.println(row + ": " + figures);
    List<String> said = new ArrayList<>();
    for (Member member : job.members()) {
      member
          .said()
          .lines()
          .filter(line -> !line.contains(" answers at "))
          .forEach(line -> said.add("member " + member.number() + " " + line));
    }
    said.forEach(line -> System.out.println("  | " + line));
    assertThat(defects(said)).as("stack traces that are not of Kafka's client").isEmpty();
  }

  /** Its client logs a trace where it is closed while an assignment is under way. */
  private static List<String> defects(List<String> said) {
    List<String> found = new ArrayList<>();
    boolean ofKafka = false;
    for (String line : said) {
      if (line.matches("member \\d+ \\d\\d:\\d\\d:.*")) {
        ofKafka = line.contains(" ERROR o.a.k.c.");
      } else if (line.contains("\tat ") && !ofKafka) {
        found.add(line);
      }
    }
    return found;
  }

  /** Ends all processes. */
  @Override
  public void close() throws IOException {
    processes.close();
    for (Path disk : disks.values()) {
      FullDisk.unmount(disk);
    }
  }
}
