package dev.retstack.service.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which side goes on, by the order of the claims and the broker's time. */
class SideTableTest {
  private final SideTable table = new SideTable(5_000);
  private long offset;

  private void claimed(String owner, long millis, String... side) {
    table.claimed(owner, Set.of(side), offset++, millis);
  }

  @Test
  void theFirstClaimCountsAndTheOtherSideLearnsIt() {
    claimed("a", 1_000, "a", "b");
    claimed("c", 1_001, "c");
    assertThat(table.speaks("a")).isTrue();
    assertThat(table.side()).containsExactlyInAnyOrder("a", "b");
    assertThat(table.offset()).isZero();
  }

  @Test
  void aRenewalMayNameOthersAndKeepsIt() {
    claimed("a", 1_000, "a", "b");
    claimed("a", 6_000, "a");
    claimed("c", 11_000, "c");
    assertThat(table.side()).containsExactly("a");
  }

  @Test
  void aSideThatDiedIsOver() {
    claimed("a", 1_000, "a");
    claimed("b", 6_000, "b");
    assertThat(table.speaks("b")).isFalse();
    claimed("b", 6_001, "b");
    assertThat(table.speaks("b")).isTrue();
    claimed("a", 6_002, "a");
    assertThat(table.side()).containsExactly("b");
  }

  @Test
  void aBrokersClockThatGoesBackEndsNothing() {
    claimed("a", 10_000, "a");
    claimed("a", 2_000, "a");
    claimed("b", 15_000, "b");
    assertThat(table.speaks("a")).isTrue();
  }

  @Test
  void onlyTheOneThatSpeaksCanTakeItBack() {
    claimed("a", 1_000, "a");
    table.released("b", 1_001);
    assertThat(table.speaks("a")).isTrue();
    table.released("a", 1_002);
    assertThat(table.side()).isEmpty();
    claimed("b", 1_003, "b");
    assertThat(table.speaks("b")).isTrue();
  }
}
