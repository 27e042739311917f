package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.service.ingest.GroupProtocol;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real processes on loopback: three brokers, three members of the pipeline, a fleet; and what may
 * happen to them. Whatever does, the result is that of a replay of what was sent, hash for hash.
 * Here in short; each row has a longer form, see the README. {@code -Dretstack.seed=S} repeats a
 * run's faults.
 */
class ChaosTest {
  private static final int KILLS = Integer.getInteger("retstack.kills", 2);

  private static final int STOPS = Integer.getInteger("retstack.stops", 1);
  private static final int BROKER_KILLS = Integer.getInteger("retstack.broker.kills", 1);
  private static final int REBALANCE_SECONDS = Integer.getInteger("retstack.rebalance.seconds", 10);
  private static final int FREEZES = Integer.getInteger("retstack.freezes", 1);
  private static final int CLOCK_SECONDS = Integer.getInteger("retstack.clock.seconds", 8);
  private static final int DISKS = Integer.getInteger("retstack.disks", 1);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private static Path dir;

  /** The broker whose disk is filled. */
  private static final int SMALL_DISK = 3;

  private static Processes processes;
  private static BrokerCluster brokers;
  private static boolean mounted;

  @BeforeAll
  static void start() throws Exception {
    processes = new Processes(dir);
    Path disk = dir.resolve("disk");
    mounted = FullDisk.mount(processes, disk);
    Map<Integer, Path> data = mounted ? Map.of(SMALL_DISK, disk.resolve("broker")) : Map.of();
    brokers = new BrokerCluster(processes, dir.resolve("brokers"), data);
  }

  @AfterAll
  static void end() throws Exception {
    processes.close();
    if (mounted) {
      FullDisk.unmount(dir.resolve("disk"));
    }
  }

  @Test
  void membersAreKilled() throws Exception {
    ChaosScript script = ChaosScript.ofMembers(ChaosScript.freshSeed(), KILLS);
    announce("membersAreKilled", script);
    try (Job job = Job.start(processes, dir, brokers, "kills")) {
      NodeKills row = new NodeKills(job, bound(job));
      tell("membersAreKilled", job, row.run(script));
      // in short, on any machine, the result counts; in long the time as well
      assertThat(row.inTime() || !isLong(KILLS)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void membersAreStopped(GroupProtocol protocol) throws Exception {
    try (Job job = Job.start(processes, dir, brokers, "stops-" + protocol, protocol)) {
      MemberStops row = new MemberStops(job, job.heartbeat().plus(MemberStops.AFTER_HEARTBEAT));
      tell("membersAreStopped", job, row.run(STOPS));
      assertThat(row.inTime() || !isLong(STOPS)).isTrue();
    }
  }

  @Test
  void brokersDie() throws Exception {
    ChaosScript script =
        ChaosScript.ofBrokers(
            ChaosScript.freshSeed(), BROKER_KILLS, isLong(BROKER_KILLS) ? 60_000 : 3_000);
    announce("brokersDie", script);
    try (Job job = Job.start(processes, dir, brokers, "brokers")) {
      String figures = new BrokerDeaths(job, Duration.ofMinutes(2)).run(script);
      tell("brokersDie", job, figures);
    }
  }

  @Test
  void membersComeAndGo() throws Exception {
    ChaosScript script =
        ChaosScript.ofComersAndGoers(
            ChaosScript.freshSeed(), REBALANCE_SECONDS / 5, 5_000, Job.MEMBERS);
    announce("membersComeAndGo", script);
    try (Job job = Job.start(processes, dir, brokers, "rebalances")) {
      tell("membersComeAndGo", job, new Rebalances(job).run(script));
    }
  }

  @Test
  void aMemberIsFrozen() throws Exception {
    try (Job job = Job.start(processes, dir, brokers, "freezes")) {
      FrozenMember row = new FrozenMember(job, bound(job).plusMinutes(1));
      tell("aMemberIsFrozen", job, row.run(FREEZES));
    }
  }

  @Test
  void aMemberIsFrozenUntilItIsPutOut() throws Exception {
    try (Job job = Job.start(processes, dir, brokers, "put-out")) {
      tell("aMemberIsFrozenUntilItIsPutOut", job, new PutOutMember(job).run());
    }
  }

  @Test
  void theDiskOfABrokerIsFull() throws Exception {
    Assumptions.assumeTrue(
        mounted, "no file system may be mounted here: the disk cannot be filled");
    try (Job job = Job.start(processes, dir, brokers, "disk")) {
      FullDisk row = new FullDisk(job, SMALL_DISK, Duration.ofMinutes(2));
      tell("theDiskOfABrokerIsFull", job, row.run(DISKS));
    }
  }

  @Test
  void clocksAreWrong() throws Exception {
    Optional<Path> library = Clocks.library();
    Assumptions.assumeTrue(
        library.isPresent(), "no libfaketime (package faketime): clocks cannot be set wrong");
    try (Job job = Job.start(processes, dir, brokers, "clocks")) {
      Clocks row = new Clocks(library.orElseThrow(), job.folder(), CLOCK_SECONDS);
      tell("clocksAreWrong", job, row.run(job));
    }
  }

  /** {@code -Dretstack.previous=DIR}: a checkout of the release before, built. */
  @Test
  void releasesRoll() throws Exception {
    String previous = System.getProperty("retstack.previous");
    Assumptions.assumeTrue(previous != null, "-Dretstack.previous=DIR names the release before");
    try (Job job = Job.start(processes, dir, brokers, "rolls")) {
      Rolls row = new Rolls(job, Path.of(previous), GraphState.VERSIONS.oldest());
      tell("releasesRoll", job, row.run());
    }
  }

  /** Within this, partitions of a dead member are read by another. */
  private static Duration bound(Job job) {
    return job.session().plus(NodeKills.AFTER_SESSION);
  }

  private static boolean isLong(int faults) {
    return faults > 3;
  }

  private static void announce(String row, ChaosScript script) {
    int count = script.faults().size();
    System.out.println(
        "%s: -Dretstack.seed=%d %s"
            .formatted(
                row,
                script.seed(),
                isLong(count) ? "%d faults".formatted(count) : script.faults()));
  }

  private static void tell(String row, Job job, String figures) throws Exception {
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
    assertThat(said).noneMatch(line -> line.contains("\tat "));
  }
}
