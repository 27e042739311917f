package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.service.ingest.GroupProtocol;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real processes on loopback: three brokers, three members of the pipeline, a fleet; and what may
 * happen to members; what happens to brokers is in {@link BrokersChaosTest}. Whatever does, the
 * result is that of a replay of what was sent, hash for hash. Here in short; each row has a longer
 * form, see the README. {@code -Dretstack.seed=S} repeats a run's faults.
 */
class ChaosTest {
  private static final int KILLS = Integer.getInteger("retstack.kills", 2);
  private static final int STOPS = Integer.getInteger("retstack.stops", 1);
  private static final int REBALANCE_SECONDS = Integer.getInteger("retstack.rebalance.seconds", 10);
  private static final int FREEZES = Integer.getInteger("retstack.freezes", 1);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private static Path dir;

  private static Stage stage;

  @BeforeAll
  static void start() throws Exception {
    stage = Stage.open(dir);
  }

  @AfterAll
  static void end() throws Exception {
    if (stage != null) {
      stage.close();
    }
  }

  @Test
  void membersAreKilled() throws Exception {
    ChaosScript script = ChaosScript.ofMembers(ChaosScript.freshSeed(), KILLS);
    Stage.announce("membersAreKilled", script);
    try (Job job = stage.job("kills")) {
      NodeKills row = new NodeKills(job, bound(job));
      Stage.tell("membersAreKilled", job, row.run(script));
      // in short, on any machine, the result counts; in long the time as well
      assertThat(row.inTime() || !Stage.isLong(KILLS)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void membersAreStopped(GroupProtocol protocol) throws Exception {
    try (Job job = stage.job("stops-" + protocol, protocol)) {
      MemberStops row = new MemberStops(job, job.heartbeat().plus(MemberStops.AFTER_HEARTBEAT));
      Stage.tell("membersAreStopped", job, row.run(STOPS));
      assertThat(row.inTime() || !Stage.isLong(STOPS)).isTrue();
    }
  }

  @Test
  void membersComeAndGo() throws Exception {
    ChaosScript script =
        ChaosScript.ofComersAndGoers(
            ChaosScript.freshSeed(), REBALANCE_SECONDS / 5, 5_000, Job.MEMBERS);
    Stage.announce("membersComeAndGo", script);
    try (Job job = stage.job("rebalances")) {
      Stage.tell("membersComeAndGo", job, new Rebalances(job).run(script));
    }
  }

  @Test
  void aMemberIsFrozen() throws Exception {
    try (Job job = stage.job("freezes")) {
      FrozenMember row = new FrozenMember(job, bound(job).plusMinutes(1));
      Stage.tell("aMemberIsFrozen", job, row.run(FREEZES));
    }
  }

  /** Within this, partitions of a dead member are read by another. */
  private static Duration bound(Job job) {
    return job.session().plus(NodeKills.AFTER_SESSION);
  }
}
