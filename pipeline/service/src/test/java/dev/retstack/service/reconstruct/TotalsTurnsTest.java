package dev.retstack.service.reconstruct;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When totals go out, by a clock that the test moves. */
class TotalsTurnsTest {
  private static final long SECOND = 1_000_000_000;

  /** The clock may overflow. */
  private static final long START = Math.subtractExact(Long.MAX_VALUE, 5 * SECOND);

  private final WorkShare share = new WorkShare(2, START);
  private final TotalsTurns turns = new TotalsTurns(Duration.ofSeconds(30), share);

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
    turns.told(false, 1, 0, START);
    assertThat(turns.isTurn(2, START + 29 * SECOND)).isFalse();
    assertThat(turns.areBehind(2)).isTrue();
    assertThat(turns.isTurn(2, START + 30 * SECOND)).isTrue();
    assertThat(turns.isTurn(1, START + 30 * SECOND)).isFalse();
  }

  @Test
  void whatIsLeftAndWhatACoreGaveGoesOutWithTheNext() {
    turns.opened(0);
    turns.told(true, 1, 0, START);
    assertThat(turns.isTurn(1, START + 1)).isTrue();
    turns.told(false, 1, 0, START);
    assertThat(turns.isTurn(2, START + 1)).isFalse();
    turns.coreEnded();
    assertThat(turns.isTurn(2, START + 1)).isTrue();
    turns.told(false, 2, 0, START);
    assertThat(turns.isTurn(3, START + 1)).isFalse();
  }

  /** A second last checkpoint would come when another member owns the partition. */
  @Test
  void thereIsOneLastTurn() {
    turns.opened(0);
    assertThat(turns.areOwed(1)).isTrue();
    turns.end();
    turns.told(true, 1, 0, START);
    assertThat(turns.areBehind(1)).isTrue();
    assertThat(turns.areOwed(1)).isFalse();
  }

  @Test
  void whatAnEarlierOwnerMayHaveOwedGoesOut() {
    turns.opened(7);
    assertThat(turns.areBehind(7)).isTrue();
    assertThat(turns.isTurn(7, START)).isTrue();
  }

  /** 0.3 s of one of two processors are a fiftieth of 7.5 s of both. */
  @Test
  void allPartitionsOfAMemberShare() {
    TotalsTurns other = new TotalsTurns(Duration.ZERO, share);
    turns.opened(0);
    other.opened(0);
    turns.told(false, 1, SECOND / 10, START + SECOND / 10);
    assertThat(other.isTurn(1, START + SECOND)).isFalse();
    turns.sent(SECOND / 5, START + SECOND);
    turns.sent(SECOND / 5, START + SECOND); // a checkpoint without totals: not theirs
    long paid = START + SECOND / 10 + 15 * SECOND / 2;
    assertThat(other.isTurn(1, paid - 1)).isFalse();
    assertThat(other.isTurn(1, paid)).isTrue();
  }
}
