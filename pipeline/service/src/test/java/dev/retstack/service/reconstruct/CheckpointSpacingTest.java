package dev.retstack.service.reconstruct;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When checkpoints may be taken, by a clock that the test moves. */
class CheckpointSpacingTest {
  private static final long SECOND = 1_000_000_000;

  /** The clock may overflow. */
  private static final long START = Math.subtractExact(Long.MAX_VALUE, SECOND);

  private final CheckpointRhythm rhythm = new CheckpointRhythm(2);
  private final CheckpointSpacing spacing = new CheckpointSpacing(rhythm);

  @Test
  void theFirstIsTakenAtOnce() {
    assertThat(spacing.waits(START)).isZero();
  }

  @Test
  void standingStillTakesATwentiethOfThePartitionsTime() {
    spacing.took(SECOND, 0, START);
    assertThat(spacing.waits(START)).isEqualTo(19 * SECOND);
    assertThat(spacing.waits(START + 19 * SECOND)).isZero();
    assertThat(spacing.waits(START + 100 * SECOND)).isZero();
  }

  /** 0.3 + 0.5 s of one of two processors are a tenth of 4 s of both. */
  @Test
  void writingTakesATenthOfTheProcessorsTime() {
    take(spacing, 3 * SECOND / 10, SECOND / 2);
    assertThat(spacing.waits(START)).as("the first may be dear").isZero();
    take(spacing, 3 * SECOND / 10, SECOND / 2);
    assertThat(spacing.waits(START + SECOND)).isEqualTo(3 * SECOND);
    assertThat(spacing.waits(START + 4 * SECOND)).isZero();
    take(spacing, 0, SECOND / 10);
    assertThat(spacing.waits(START)).as("a cheaper one").isEqualTo(SECOND / 2);
  }

  /** Seven small partitions wait no longer than the big one, and it no longer than they do. */
  @Test
  void allPartitionsOfAMemberHaveOneRhythm() {
    CheckpointSpacing other = new CheckpointSpacing(rhythm);
    for (int i = 0; i < 2; i++) {
      take(spacing, 0, SECOND);
      take(other, 0, SECOND / 5);
    }
    assertThat(spacing.waits(START)).isEqualTo(6 * SECOND);
    assertThat(other.waits(START)).isEqualTo(6 * SECOND);
    spacing.end();
    assertThat(other.waits(START)).as("the big one moved to another member").isEqualTo(SECOND);
    other.end();
    assertThat(rhythm.nanos()).isZero();
  }

  @Test
  void noneWaitsForHours() {
    take(spacing, 0, 10_000 * SECOND);
    take(spacing, 0, 10_000 * SECOND);
    assertThat(spacing.waits(START)).isEqualTo(CheckpointRhythm.LONGEST_NANOS);
  }

  @Test
  void theClockIsThatOfTheThread() throws Exception {
    long began = CpuClock.nanos();
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  long own = CpuClock.nanos();
                  while (CpuClock.nanos() - own < SECOND / 2) {
                    Thread.onSpinWait();
                  }
                });
    other.join();
    assertThat(CpuClock.nanos() - began).isBetween(0L, SECOND / 4);
  }

  private static void take(CheckpointSpacing spacing, long taking, long writing) {
    spacing.took(0, taking, START);
    assertThat(spacing.wrote(writing)).isEqualTo(taking + writing);
  }
}
