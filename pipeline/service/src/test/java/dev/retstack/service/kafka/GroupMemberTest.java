package dev.retstack.service.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.junit.jupiter.api.Test;

/** Which partitions are held, and as whom they are committed. */
class GroupMemberTest {
  private final GroupMember member = new GroupMember("");

  @Test
  void onesThatItCannotReadAreNotOpened() {
    member.given(Set.of(1, 2, 3));
    member.leaveAlone(2);
    member.leaveAlone(7); // went away meanwhile
    assertThat(member.toOpen()).containsExactly(1, 3);
    member.takenBack(Set.of(2, 3));
    member.given(Set.of(2));
    assertThat(member.toOpen()).containsExactly(1, 2);
    assertThat(member.isIn()).isTrue();
    member.left();
    assertThat(member.toOpen()).isEmpty();
    assertThat(member.isIn()).isFalse();
  }

  @Test
  void onesThatWentAwayAreNotOpened() {
    member.given(Set.of(1, 2));
    member.takenBack(Set.of(1));
    assertThatThrownBy(() -> member.requireHeld(1)).isInstanceOf(CommitFailedException.class);
    member.requireHeld(2);
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

  /** Its ledgers may still be busy: what they commit is refused at once, not when it joined. */
  @Test
  void oneThatLeftCommitsNothingAndNobodyWaits() throws Exception {
    member.joined(as(4));
    member.given(Set.of(1));
    member.joins();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<ConsumerGroupMetadata> waits = threads.submit(() -> member.commitsAs(1));
      member.left();
      assertThatThrownBy(() -> waits.get(GroupMember.JOINING.toMillis() / 2, TimeUnit.MILLISECONDS))
          .hasRootCauseInstanceOf(CommitFailedException.class);
    }
    member.refused(as(4)); // as it was told too late
    assertThatThrownBy(() -> member.commitsAs(1)).isInstanceOf(CommitFailedException.class);
    member.joined(as(5));
    member.given(Set.of(1));
    assertThat(member.commitsAs(1)).isEqualTo(as(5));
  }

  @SuppressWarnings("removal") // there is no other way to a generation of before
  private static ConsumerGroupMetadata as(int generation) {
    return new ConsumerGroupMetadata("group", generation, "member", Optional.empty());
  }
}
