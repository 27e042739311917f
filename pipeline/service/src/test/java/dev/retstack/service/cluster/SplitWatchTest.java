package dev.retstack.service.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.service.cluster.SplitWatch.View;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** When a silent member has been silent for long enough, and who acts. */
class SplitWatchTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final SplitWatch watch = new SplitWatch(Duration.ofSeconds(10));

  @Test
  void theLargerSideActsFirst() {
    View larger = new View(Set.of("a", "b"), Set.of("c"), true);
    assertThat(watch.due(larger, 0)).isEmpty();
    assertThat(watch.due(larger, 10 * SECOND - 1)).isEmpty();
    assertThat(watch.due(larger, 10 * SECOND)).containsExactly("c");
    SplitWatch other = new SplitWatch(Duration.ofSeconds(10));
    View smaller = new View(Set.of("c"), Set.of("a", "b"), true);
    assertThat(other.due(smaller, 0)).isEmpty();
    long later = 10 * SECOND + SplitWatch.HANDICAP.toNanos();
    assertThat(other.due(smaller, later - 1)).isEmpty();
    assertThat(other.due(smaller, later)).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void oneThatIsBackStartsAnew() {
    View silent = new View(Set.of("a"), Set.of("b"), true);
    assertThat(watch.due(silent, 0)).isEmpty();
    assertThat(watch.due(new View(Set.of("a", "b"), Set.of(), true), 9 * SECOND)).isEmpty();
    assertThat(watch.due(silent, 10 * SECOND)).isEmpty();
    assertThat(watch.due(silent, 20 * SECOND)).containsExactly("b");
  }

  @Test
  void membersKilledInARowAreDueOneAfterTheOther() {
    assertThat(watch.due(new View(Set.of("a", "c"), Set.of("b"), true), 0)).isEmpty();
    View both = new View(Set.of("a", "d"), Set.of("b", "c"), true);
    assertThat(watch.due(both, 5 * SECOND)).isEmpty();
    assertThat(watch.due(both, 10 * SECOND)).containsExactly("b");
    assertThat(watch.due(both, 15 * SECOND)).containsExactlyInAnyOrder("b", "c");
  }

  @Test
  void onlyOneOfASideActs() {
    View follower = new View(Set.of("a", "b"), Set.of("c"), false);
    assertThat(watch.due(follower, 0)).isEmpty();
    assertThat(watch.due(follower, 100 * SECOND)).isEmpty();
  }
}
