package dev.retstack.service.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.snapshot.StateVersions;
import java.util.Optional;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

/** Members write the newest version that all of them read. */
class VersionVoteTest {
  private static final StateVersions NEW = new StateVersions(10, 11);
  private static final StateVersions NEXT = new StateVersions(11, 12);

  private final VersionVote vote = new VersionVote("g", NEW);

  private void heard(String node, StateVersions reads, long millis) {
    vote.heard(NodeTable.key("g", node), Optional.ofNullable(reads), millis);
  }

  @Test
  void theNewestThatAllReadIsWritten() {
    vote.caughtUp();
    assertThat(vote.toWrite(11)).isEqualTo(11);
    heard("new", NEW, 1_000);
    assertThat(vote.toWrite(11)).isEqualTo(11);
    heard("old", VersionVote.UNSAID, 2_000);
    assertThat(vote.toWrite(11)).isEqualTo(10);
    assertThat(vote.holdingBack()).isEqualTo("old reads 10");
    heard("next", NEXT, 3_000);
    assertThat(vote.toWrite(11)).isEqualTo(10);
    heard("old", null, 4_000);
    assertThat(vote.toWrite(10)).as("it left in order").isEqualTo(11);
  }

  @Test
  void otherGroupsDoNotCount() {
    vote.caughtUp();
    vote.heard(NodeTable.key("other", "old"), Optional.of(VersionVote.UNSAID), 1);
    vote.heard(NodeTable.key("g2", "old"), Optional.of(VersionVote.UNSAID), 1);
    assertThat(vote.toWrite(11)).isEqualTo(11);
  }

  @Test
  void whoDiedWithoutAWordCountsForAWhile() {
    vote.caughtUp();
    heard("old", VersionVote.UNSAID, 0);
    long now = 0;
    while (now < VersionVote.MEMORY_MILLIS) {
      now += NodeTable.INTERVAL_MILLIS;
      assertThat(vote.toWrite(10)).as("after %s ms", now).isEqualTo(10);
      heard("new", NEW, now);
    }
    heard("new", NEW, now + NodeTable.INTERVAL_MILLIS);
    assertThat(vote.toWrite(10)).isEqualTo(11);
  }

  @Test
  void asLongAsOthersAreNotKnownNothingChanges() {
    assertThat(vote.toWrite(10)).isEqualTo(10);
    assertThat(vote.toWrite(11)).isEqualTo(11);
    vote.caughtUp();
    assertThat(vote.toWrite(10)).isEqualTo(11);
  }

  @Test
  void noVersionIsWrittenThatThisMemberCannotWrite() {
    VersionVote next = new VersionVote("g", NEXT);
    next.caughtUp();
    next.heard(NodeTable.key("g", "old"), Optional.of(VersionVote.UNSAID), 1);
    assertThat(next.toWrite(12)).isEqualTo(11);
  }

  @Test
  void othersThatRunAreKnownByWhatTheyRead() {
    heard("me", NEW, 1_000);
    assertThat(vote.othersRead("g/me", 11)).isFalse();
    heard("other", NEW, 2_000);
    assertThat(vote.othersRead("g/me", 11)).isTrue();
    assertThat(vote.othersRead("g/me", 12)).isFalse();
    heard("me", NEW, 2_001 + NodeTable.EXPIRY_MILLIS);
    assertThat(vote.othersRead("g/me", 11)).as("silent too long").isFalse();
  }

  @Test
  void whatIsReadTravelsInAHeader() {
    RecordHeaders headers = new RecordHeaders();
    assertThat(VersionVote.said(headers)).isEqualTo(VersionVote.UNSAID);
    VersionVote.say(NEW, headers);
    assertThat(VersionVote.said(headers)).isEqualTo(NEW);
    RecordHeaders broken = new RecordHeaders();
    broken.add("state-versions", new byte[] {11, 3});
    assertThat(VersionVote.said(broken)).isEqualTo(VersionVote.UNSAID);
  }
}
