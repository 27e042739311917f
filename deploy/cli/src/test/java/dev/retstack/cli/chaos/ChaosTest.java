package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.ChaosRow;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real processes on loopback: three brokers, three members of the pipeline and a fleet, and faults.
 * The result equals a replay of what was sent, hash for hash. The row {@code chaos}, which always
 * runs, has each fault once, in one job; each other row has one kind of fault. A row sets the
 * property that its test wants. {@code -Dretstack.seed=S} repeats a run's faults.
 */
class ChaosTest {
  private static final int KILLS = Integer.getInteger("retstack.kills", 1);
  private static final int STOPS = Integer.getInteger("retstack.stops", 1);
  private static final int REBALANCE_SECONDS = Integer.getInteger("retstack.rebalance.seconds", 10);
  private static final int FREEZES = Integer.getInteger("retstack.freezes", 1);
  private static final int BROKER_KILLS = Integer.getInteger("retstack.broker.kills", 1);
  private static final int CLOCK_SECONDS = Integer.getInteger("retstack.clock.seconds", 3);
  private static final int DISKS = Integer.getInteger("retstack.disks", 1);
  private static final int DISK_PAIRS = Integer.getInteger("retstack.disk.pairs", 1);
  private static final int DISK_SECONDS = Integer.getInteger("retstack.disk.seconds", 3);

  /** In the row of all faults a member leaves or comes so often. */
  private static final int REBALANCES = 2;

  private static final int REBALANCE_MILLIS = 2_000;

  /** The brokers whose disks are filled. */
  private static final List<Integer> SMALL_DISKS = List.of(2, 3);

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String CAMPAIGN = "long form: ./retstack test --campaign ";

  private static final byte[] AT = "g/0/at".getBytes(UTF_8);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path dir;

  /** On any machine the result counts; in the other rows the time as well. */
  @Test
  @ChaosRow
  void membersAndBrokersFailInEachWayOnce() throws Exception {
    String name = "membersAndBrokersFailInEachWayOnce";
    long seed = ChaosScript.freshSeed();
    ChaosScript kills = ChaosScript.ofMembers(seed, 1);
    ChaosScript moves =
        ChaosScript.ofComersAndGoers(seed, REBALANCES, REBALANCE_MILLIS, Job.MEMBERS);
    ChaosScript deaths = ChaosScript.ofBrokers(seed, 1, 3_000);
    Stage.announce(name, kills);
    try (Stage stage = Stage.open(dir, SMALL_DISKS);
        Job job = stage.job("short")) {
      theWatchSeesWhatIsWrong(job.kafka());
      NodeKills killed = new NodeKills(job, bound(job));
      MemberStops stopped = new MemberStops(job, job.heartbeat().plus(MemberStops.AFTER_HEARTBEAT));
      FrozenMember frozen = new FrozenMember(job, bound(job).plusMinutes(1));
      TestFleet fleet = job.fleet(BrokerDeaths.LITTLE_ROOM);
      String figures =
          Row.of(
              job,
              fleet,
              (sends, watch) -> killed.run(kills, sends, watch),
              (sends, watch) -> stopped.run(1, sends, watch),
              (sends, _) -> new Rebalances(job).run(moves, sends),
              (sends, watch) -> frozen.run(1, sends, watch),
              (sends, _) -> new BrokerDeaths(job, PATIENCE).run(deaths, sends),
              (sends, _) -> stage.haveDisks(SMALL_DISKS) ? disk(job).run(1, sends) : "no disk");
      Stage.tell(name, job, figures + "; " + stoodStill(fleet));
      assumeDisks(stage);
    }
  }

  /** The rows trust the watch: it must fail without a checkpoint, and if a rule is broken. */
  private static void theWatchSeesWhatIsWrong(KafkaSettings kafka) throws Exception {
    Topics topics = new Topics("watch");
    try (TopicAdmin admin = new TopicAdmin(kafka, PATIENCE)) {
      admin.ensure(topics, 1);
    }
    try (StateWatch watch = new StateWatch(kafka, topics.state(), "g", "read_committed");
        var producer =
            new KafkaProducer<>(
                kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      assertThat(watch.wrong()).containsExactly("no checkpoint was seen");
      for (StateWatch.Checkpoint one :
          List.of(
              new StateWatch.Checkpoint(0, 1, 100, 0),
              new StateWatch.Checkpoint(0, 2, 100, 0),
              new StateWatch.Checkpoint(0, 2, 150, 0))) {
        producer.send(new ProducerRecord<>(topics.state(), 0, AT, StateWatch.bytes(one))).get();
      }
      assertThat(watch.await(3, PATIENCE)).as("%s", watch.wrong()).isTrue();
      assertThat(watch.wrong()).isEmpty();
      producer
          .send(new ProducerRecord<>(topics.state(), 0, "g/0/unknown".getBytes(UTF_8), AT))
          .get();
      for (StateWatch.Checkpoint one :
          List.of(
              new StateWatch.Checkpoint(0, 2, 140, 0), // back
              new StateWatch.Checkpoint(0, 1, 160, 0), // of an owner of before
              new StateWatch.Checkpoint(0, 3, 170, 0))) { // not where the last one was
        producer.send(new ProducerRecord<>(topics.state(), 0, AT, StateWatch.bytes(one))).get();
      }
      assertThat(watch.await(6, PATIENCE)).as("%s", watch.wrong()).isTrue();
      assertThat(watch.wrong()).hasSize(4);
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.kills",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-kills")
  void membersAreKilled() throws Exception {
    ChaosScript script = ChaosScript.ofMembers(ChaosScript.freshSeed(), KILLS);
    Stage.announce("membersAreKilled", script);
    try (Stage stage = Stage.open(dir);
        Job job = stage.job("kills")) {
      NodeKills row = new NodeKills(job, bound(job));
      String figures = Row.of(job, (fleet, watch) -> row.run(script, fleet, watch));
      Stage.tell("membersAreKilled", job, figures);
      assertThat(row.inTime() || !Stage.isLong(KILLS)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  @EnabledIfSystemProperty(
      named = "retstack.stops",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-stops")
  void membersAreStopped(GroupProtocol protocol) throws Exception {
    try (Stage stage = Stage.open(dir);
        Job job = stage.job("stops-" + protocol, protocol)) {
      MemberStops row = new MemberStops(job, job.heartbeat().plus(MemberStops.AFTER_HEARTBEAT));
      String figures = Row.of(job, (fleet, watch) -> row.run(STOPS, fleet, watch));
      Stage.tell("membersAreStopped", job, figures);
      assertThat(row.inTime() || !Stage.isLong(STOPS)).isTrue();
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.rebalance.seconds",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-rebalances")
  void membersComeAndGo() throws Exception {
    ChaosScript script =
        ChaosScript.ofComersAndGoers(
            ChaosScript.freshSeed(), REBALANCE_SECONDS / 5, 5_000, Job.MEMBERS);
    Stage.announce("membersComeAndGo", script);
    try (Stage stage = Stage.open(dir);
        Job job = stage.job("rebalances")) {
      String figures = Row.of(job, (fleet, _) -> new Rebalances(job).run(script, fleet));
      Stage.tell("membersComeAndGo", job, figures);
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.freezes",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-freezes")
  void aMemberIsFrozen() throws Exception {
    try (Stage stage = Stage.open(dir);
        Job job = stage.job("freezes")) {
      FrozenMember row = new FrozenMember(job, bound(job).plusMinutes(1));
      String figures = Row.of(job, (fleet, watch) -> row.run(FREEZES, fleet, watch));
      Stage.tell("aMemberIsFrozen", job, figures);
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.broker.kills",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-brokers")
  void brokersDie() throws Exception {
    ChaosScript script =
        ChaosScript.ofBrokers(
            ChaosScript.freshSeed(), BROKER_KILLS, Stage.isLong(BROKER_KILLS) ? 60_000 : 3_000);
    Stage.announce("brokersDie", script);
    try (Stage stage = Stage.open(dir);
        Job job = stage.job("brokers")) {
      TestFleet fleet = job.fleet(BrokerDeaths.LITTLE_ROOM);
      String figures =
          Row.of(job, fleet, (sends, _) -> new BrokerDeaths(job, PATIENCE).run(script, sends));
      Stage.tell("brokersDie", job, figures + "; " + stoodStill(fleet));
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.disks",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-disk")
  void theDiskOfABrokerIsFull() throws Exception {
    try (Stage stage = Stage.open(dir, SMALL_DISKS)) {
      assumeDisks(stage);
      try (Job job = stage.job("disk")) {
        String figures = Row.of(job, (fleet, _) -> disk(job).run(DISKS, fleet));
        Stage.tell("theDiskOfABrokerIsFull", job, figures);
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.disk.pairs",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-two-disks")
  void theDisksOfTwoBrokersAreFull() throws Exception {
    try (Stage stage = Stage.open(dir, SMALL_DISKS)) {
      assumeDisks(stage);
      try (Job job = stage.job("disks")) {
        FullDisks row = new FullDisks(job, SMALL_DISKS, Duration.ofMinutes(4));
        Duration seconds = Duration.ofSeconds(DISK_SECONDS);
        TestFleet fleet = job.fleet(BrokerDeaths.LITTLE_ROOM);
        String figures = Row.of(job, fleet, (sends, _) -> row.run(DISK_PAIRS, seconds, sends));
        Stage.tell("theDisksOfTwoBrokersAreFull", job, figures + "; " + stoodStill(fleet));
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.clock.seconds",
      matches = "\\d+",
      disabledReason = CAMPAIGN + "chaos-clocks")
  void clocksAreWrong() throws Exception {
    Optional<Path> library = Clocks.library();
    Assumptions.assumeTrue(
        library.isPresent(), "no libfaketime (package faketime): clocks cannot be set wrong");
    try (Stage stage = Stage.open(dir);
        Job job = stage.job("clocks")) {
      Clocks row = new Clocks(library.orElseThrow(), job.folder(), CLOCK_SECONDS);
      Stage.tell("clocksAreWrong", job, row.run(job));
    }
  }

  /** Within this, partitions of a dead member are read by another. */
  private static Duration bound(Job job) {
    return job.session().plus(NodeKills.AFTER_SESSION);
  }

  private static FullDisk disk(Job job) {
    return new FullDisk(job, SMALL_DISKS.getLast(), PATIENCE);
  }

  /** What an ended fleet says of its cores, which had no room for what could not be sent. */
  private static String stoodStill(TestFleet fleet) throws Exception {
    String said = fleet.said();
    assertThat(said).contains("cores waited");
    return said.lines().filter(line -> line.contains("cores waited")).findFirst().orElseThrow();
  }

  private static void assumeDisks(Stage stage) {
    Assumptions.assumeTrue(
        stage.haveDisks(SMALL_DISKS),
        "no file system may be mounted here: the disks cannot be filled");
  }
}
