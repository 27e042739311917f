package dev.retstack.graph.losses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Rows are joined beyond a limit; which chunks are missing is still known of each. */
class LossLogTest {
  private static final int LOSSES = 3 * LossLog.ROWS_MAX;

  private final LossLog log = new LossLog(StateBudget.UNLIMITED.open(0));
  private final BitSet missing = new BitSet();

  @Test
  void aChunkBetweenJoinedLossesIsNotMissing() throws IOException {
    long seed = Seeds.fresh();
    int end = random(new SplittableRandom(seed));
    assertThat(log.rows()).hasSize(LossLog.ROWS_MAX);
    assertThat(log.losses()).isEqualTo(LOSSES);
    LossLog read = new LossLog(StateBudget.UNLIMITED.open(0));
    read.readFrom(new DataInputStream(new ByteArrayInputStream(written(log))));
    for (int chunk = 0; chunk <= end + 1; chunk++) {
      assertThat(log.isMissing(chunk))
          .as("chunk %d, seed %d", chunk, seed)
          .isEqualTo(missing.get(chunk))
          .isEqualTo(read.isMissing(chunk));
    }
    assertThat(written(read)).isEqualTo(written(log));
  }

  @Test
  void withoutMemoryTheLastRangeGrows() {
    StateBudget budget = new StateBudget(1, 0);
    LossLog poor = new LossLog(budget.open(0));
    poor.add(missing(2, 4));
    poor.add(missing(10, 12));
    assertThat(poor.rows()).hasSize(1);
    assertThat(poor.isMissing(1)).isFalse();
    assertThat(poor.isMissing(5)).isTrue();
    assertThat(poor.isMissing(12)).isFalse();
  }

  @Test
  void rangesThatAreOutOfOrderAreRefused() throws IOException {
    log.add(missing(2, 4));
    byte[] bytes = written(log);
    bytes[bytes.length - 1] = 0; // the range ends where it begins
    assertThatThrownBy(
            () ->
                new LossLog(StateBudget.UNLIMITED.open(0))
                    .readFrom(new DataInputStream(new ByteArrayInputStream(bytes))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not in order");
  }

  /** Adds losses of both kinds, some side by side; returns the number of the chunk behind them. */
  private int random(SplittableRandom random) {
    int chunk = 0;
    for (int i = 0; i < LOSSES; i++) {
      int from = chunk + random.nextInt(3);
      if (random.nextInt(3) == 0) {
        log.add(new Loss(Loss.Kind.DROPPED, from, from, from, 1, from, from));
        chunk = from;
      } else {
        chunk = from + 1 + random.nextInt(4);
        log.add(missing(from, chunk));
        missing.set(from, chunk);
      }
    }
    return chunk;
  }

  private static Loss missing(long from, long to) {
    return new Loss(Loss.Kind.MISSING, from, to, from, to - from, from, to);
  }

  private static byte[] written(LossLog log) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    log.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }
}
