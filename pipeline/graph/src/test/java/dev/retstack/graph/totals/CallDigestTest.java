package dev.retstack.graph.totals;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class CallDigestTest {
  private static final int SEEDS = 200;

  private static long digest(long[] calls, int from, int end) {
    long digest = 0;
    for (int i = from; i < end; i++) {
      digest = CallDigest.add(digest, calls[i], i, i + calls[i] % 100, i % 7, i % 5);
    }
    return digest;
  }

  @Test
  void twoStretchesGiveThatOfBothWhereverTheyAreDivided() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      long[] calls = random.longs(1 + random.nextInt(3_000)).toArray();
      int at = random.nextInt(calls.length + 1);
      long joined =
          CallDigest.join(digest(calls, 0, at), digest(calls, at, calls.length), calls.length - at);
      assertThat(joined).as("seed %d", seed).isEqualTo(digest(calls, 0, calls.length));
    }
  }

  @Test
  void theOrderOfCallsCounts() {
    long[] values = new Random(1).longs(5_000).toArray();
    long all = 0;
    for (long value : values) {
      all = CallDigest.add(all, value);
    }
    for (int distance = 1; distance < values.length; distance *= 2) {
      long[] other = values.clone();
      other[7] = values[7 + distance];
      other[7 + distance] = values[7];
      long sum = 0;
      for (long value : other) {
        sum = CallDigest.add(sum, value);
      }
      assertThat(sum).as("two that lie %d apart change places", distance).isNotEqualTo(all);
    }
  }
}
