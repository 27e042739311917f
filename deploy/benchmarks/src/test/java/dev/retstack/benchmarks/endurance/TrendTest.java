package dev.retstack.benchmarks.endurance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** The judge of a soak sees a leak, and no other thing for one. */
class TrendTest {
  private static Trend of(IntToDoubleFunction value) {
    Trend trend = new Trend("bytes", 8);
    for (int i = 0; i < 180; i++) {
      trend.add(value.applyAsDouble(i));
    }
    return trend;
  }

  @Test
  void aSteadyLeakGrows() {
    assertThat(of(i -> 1_000 + 2 * i).isFlat()).isFalse();
  }

  @Test
  void aWarmUpThenNothingIsFlat() {
    assertThat(of(i -> Math.min(i, 60) * 100.0).isFlat()).isTrue();
  }

  @Test
  void theTeethOfASawAreFlat() {
    assertThat(of(i -> 1_000 + 50.0 * (i % 13)).isFlat()).isTrue();
  }

  @Test
  void oneOutlierIsFlat() {
    assertThat(of(i -> i == 179 ? 1e9 : 1_000).isFlat()).isTrue();
  }

  @Test
  void aLeakUnderASawGrows() {
    assertThat(of(i -> 1_000 + 50.0 * (i % 13) + 3 * i).isFlat()).isFalse();
  }
}
