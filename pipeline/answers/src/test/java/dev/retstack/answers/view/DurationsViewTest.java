package dev.retstack.answers.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.testing.Seeds;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DurationsViewTest {
  /** Each duration is in one stretch, and that is a sixteenth of it long at most. */
  @Test
  void aStretchIsNarrowAndHasItsDurations() {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 100_000; i++) {
      long duration = i < 1000 ? i : random.nextLong() >>> random.nextInt(1, 64);
      int stretch = DurationsView.stretch(duration);
      long first = DurationsView.first(stretch);
      long last = DurationsView.first(stretch + 1) - 1;
      assertThat(duration).as("-Dretstack.seed=%d", seed).isBetween(first, last);
      assertThat(last - first).as("-Dretstack.seed=%d", seed).isLessThanOrEqualTo(first / 16);
    }
    assertThat(DurationsView.stretch(Long.MAX_VALUE)).isEqualTo(((64 - 4) << 4) - 1);
  }
}
