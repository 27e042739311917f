package dev.retstack.cli.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** The same stage as in {@link ChaosTest}, and what may happen to brokers and to clocks. */
class BrokersChaosTest {
  private static final int BROKER_KILLS = Integer.getInteger("retstack.broker.kills", 1);
  private static final int CLOCK_SECONDS = Integer.getInteger("retstack.clock.seconds", 8);
  private static final int DISKS = Integer.getInteger("retstack.disks", 1);

  private static final int DISK_PAIRS = Integer.getInteger("retstack.disk.pairs", 0);
  private static final int DISK_SECONDS = Integer.getInteger("retstack.disk.seconds", 3);

  /** The brokers whose disks are filled. */
  private static final List<Integer> SMALL_DISKS = List.of(2, 3);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private static Path dir;

  private static Stage stage;

  @BeforeAll
  static void start() throws Exception {
    stage = Stage.open(dir, SMALL_DISKS);
  }

  @AfterAll
  static void end() throws Exception {
    if (stage != null) {
      stage.close();
    }
  }

  @Test
  void brokersDie() throws Exception {
    ChaosScript script =
        ChaosScript.ofBrokers(
            ChaosScript.freshSeed(), BROKER_KILLS, Stage.isLong(BROKER_KILLS) ? 60_000 : 3_000);
    Stage.announce("brokersDie", script);
    try (Job job = stage.job("brokers")) {
      String figures = new BrokerDeaths(job, Duration.ofMinutes(2)).run(script);
      Stage.tell("brokersDie", job, figures);
    }
  }

  @Test
  void theDiskOfABrokerIsFull() throws Exception {
    assumeDisks();
    try (Job job = stage.job("disk")) {
      FullDisk row = new FullDisk(job, SMALL_DISKS.getLast(), Duration.ofMinutes(2));
      Stage.tell("theDiskOfABrokerIsFull", job, row.run(DISKS));
    }
  }

  /** Takes minutes on a small machine: in its long form only. */
  @Test
  void theDisksOfTwoBrokersAreFull() throws Exception {
    Assumptions.assumeTrue(DISK_PAIRS > 0, "-Dretstack.disk.pairs=N fills both disks N times");
    assumeDisks();
    try (Job job = stage.job("disks")) {
      FullDisks row = new FullDisks(job, SMALL_DISKS, Duration.ofMinutes(4));
      String figures = row.run(DISK_PAIRS, Duration.ofSeconds(DISK_SECONDS));
      Stage.tell("theDisksOfTwoBrokersAreFull", job, figures);
    }
  }

  private static void assumeDisks() {
    Assumptions.assumeTrue(
        stage.haveDisks(SMALL_DISKS),
        "no file system may be mounted here: the disks cannot be filled");
  }

  @Test
  void clocksAreWrong() throws Exception {
    Optional<Path> library = Clocks.library();
    Assumptions.assumeTrue(
        library.isPresent(), "no libfaketime (package faketime): clocks cannot be set wrong");
    try (Job job = stage.job("clocks")) {
      Clocks row = new Clocks(library.orElseThrow(), job.folder(), CLOCK_SECONDS);
      Stage.tell("clocksAreWrong", job, row.run(job));
    }
  }
}
