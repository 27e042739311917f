package dev.retstack.service.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
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
