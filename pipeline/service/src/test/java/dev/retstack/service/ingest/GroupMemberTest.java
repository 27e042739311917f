package dev.retstack.service.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.junit.jupiter.api.Test;

/** Which partitions are held, and which of them wait for their feed. */
class GroupMemberTest {
  private final GroupMember member = new GroupMember();

  @Test
  void onesWithoutAFeedAreTold() {
    member.given(Set.of(1, 2, 3));
    Map<Integer, Long> opened = member.holdings(Set.of(1, 2, 7));
    assertThat(opened).containsOnlyKeys(1, 2);
    member.feeds(1);
    assertThat(member.unfed(opened)).containsExactly(2);
  }

  @Test
  void onesThatWentAwayAreNotWaitedFor() {
    member.given(Set.of(1, 2));
    Map<Integer, Long> opened = member.holdings(Set.of(1, 2));
    member.takenBack(Set.of(1));
    member.feeds(1); // too late
    assertThat(member.holds(1)).isFalse();
    assertThat(member.unfed(opened)).containsExactly(2);
  }

  /**
   * While it joins its generation may end; where the group took a partition nobody waits for it.
   */
  @Test
  void oneThatJoinsCommitsWhenItHasAnswer() throws Exception {
    ConsumerGroupMetadata before = as(4);
    ConsumerGroupMetadata after = as(5);
    member.joined(before);
    member.given(Set.of(1, 2));
    assertThat(member.commitsAs(1)).isEqualTo(before);
    member.joins();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<ConsumerGroupMetadata> mine = threads.submit(() -> member.commitsAs(1));
      Future<ConsumerGroupMetadata> lost = threads.submit(() -> member.commitsAs(2));
      member.is(before);
      member.lost(Set.of(2));
      assertThatThrownBy(lost::get).hasRootCauseInstanceOf(CommitFailedException.class);
      assertThat(mine.isDone()).isFalse();
      member.joined(after);
      assertThat(mine.get()).isEqualTo(after);
      member.refused(before); // it knows better already
      assertThat(member.commitsAs(1)).isEqualTo(after);
      member.refused(after);
      Future<ConsumerGroupMetadata> next = threads.submit(() -> member.commitsAs(1));
      member.is(as(6));
      assertThat(next.get()).isEqualTo(as(6));
    }
    assertThatThrownBy(() -> member.commitsAs(2)).isInstanceOf(CommitFailedException.class);
    member.given(Set.of(2));
    assertThat(member.commitsAs(2)).isEqualTo(as(6));
    member.is(as(-1)); // a broker takes that from anyone
    assertThatThrownBy(() -> member.commitsAs(1)).isInstanceOf(CommitFailedException.class);
  }

  @SuppressWarnings("removal") // there is no other way to a generation of before
  private static ConsumerGroupMetadata as(int generation) {
    return new ConsumerGroupMetadata("group", generation, "member", Optional.empty());
  }

  /** It was fed, went away and came back a moment ago: it is being opened, nothing is amiss. */
  @Test
  void onesThatCameBackAreWaitedForAnew() {
    member.given(Set.of(1));
    Map<Integer, Long> before = member.holdings(Set.of(1));
    member.feeds(1);
    member.takenBack(Set.of(1));
    member.given(Set.of(1));
    assertThat(member.unfed(before)).isEmpty();
    assertThat(member.unfed(member.holdings(Set.of(1)))).containsExactly(1);
    member.feeds(1);
    assertThat(member.unfed(member.holdings(Set.of(1)))).isEmpty();
  }
}
