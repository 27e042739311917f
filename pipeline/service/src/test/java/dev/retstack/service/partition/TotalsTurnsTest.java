package dev.retstack.service.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When totals go out, by a clock that the test moves. */
class TotalsTurnsTest {
  private static final long SECOND = 1_000_000_000;

  /** The clock may overflow. */
  private static final long START = Math.subtractExact(Long.MAX_VALUE, 5 * SECOND);

  private final TotalsTurns turns = new TotalsTurns(Duration.ofSeconds(30));

  @Test
  void nothingNewIsNotTold() {
    turns.opened(0);
    assertThat(turns.isTurn(0, START + 100 * SECOND)).isFalse();
    assertThat(turns.areBehind(0)).isFalse();
  }

  @Test
  void theFirstGoOutAtOnceAndTheNextAfterTheInterval() {
    turns.opened(0);
    assertThat(turns.isTurn(1, START)).isTrue();
    turns.published(0, false, 1, START);
    assertThat(turns.isTurn(2, START + 29 * SECOND)).isFalse();
    assertThat(turns.areBehind(2)).isTrue();
    assertThat(turns.isTurn(2, START + 30 * SECOND)).isTrue();
    assertThat(turns.isTurn(1, START + 30 * SECOND)).isFalse();
  }

  @Test
  void whatIsLeftAndWhatACoreGaveGoesOutWithTheNext() {
    turns.opened(0);
    turns.published(0, true, 1, START);
    assertThat(turns.isTurn(1, START + 1)).isTrue();
    turns.published(0, false, 1, START);
    assertThat(turns.isTurn(2, START + 1)).isFalse();
    turns.coreEnded();
    assertThat(turns.isTurn(2, START + 1)).isTrue();
    turns.published(0, false, 2, START);
    assertThat(turns.isTurn(3, START + 1)).isFalse();
  }

  /** A second last checkpoint would come when another member owns the partition. */
  @Test
  void thereIsOneLastTurn() {
    turns.opened(0);
    assertThat(turns.areOwed(1)).isTrue();
    turns.end();
    turns.published(0, true, 1, START);
    assertThat(turns.areBehind(1)).isTrue();
    assertThat(turns.areOwed(1)).isFalse();
  }

  @Test
  void whatAnEarlierOwnerMayHaveOwedGoesOut() {
    turns.opened(7);
    assertThat(turns.areBehind(7)).isTrue();
    assertThat(turns.isTurn(7, START)).isTrue();
  }

  /** 5,000 rows are followed by 3 s without: the next go out early only then. */
  @Test
  void manyRowsAreFollowedByAPause() {
    turns.opened(0);
    turns.published(5_000, true, 1, START);
    assertThat(turns.isTurn(2, START + 3 * SECOND - 1)).isFalse();
    assertThat(turns.isTurn(2, START + 3 * SECOND)).isTrue();
    turns.published(5_000, false, 2, START + 3 * SECOND);
    turns.coreEnded();
    assertThat(turns.isTurn(3, START + 6 * SECOND - 1)).isFalse();
    assertThat(turns.isTurn(3, START + 6 * SECOND)).isTrue();
  }
}
