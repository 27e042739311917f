package dev.retstack.graph.hot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Estimates against the truth: within the bounds that are printed, for any stream of calls. */
class SketchedCountsTest {
  private static final int SEEDS = 60;

  /** What was really called, and the sketch and the exact counts that heard of it. */
  private static final class Heard {
    final Long2LongOpenHashMap truth = new Long2LongOpenHashMap();
    final HotCounter exact = new ExactCounts(HotSettings.SEED);
    final HotCounter sketch;

    Heard(int size) {
      sketch = new SketchedCounts(HotSettings.SEED, size);
    }

    void calls(SplittableRandom random) {
      int functions = 1 + random.nextInt(2000);
      int calls = random.nextInt(40_000);
      double skew = random.nextDouble() * 4;
      for (int i = 0; i < calls; i++) {
        long address = 0x1000 + 4L * (long) (functions * Math.pow(random.nextDouble(), skew));
        truth.addTo(address, 1);
        exact.hit(address);
        sketch.hit(address);
      }
    }
  }

  @Test
  void everyTrueCountLiesWithinTheBounds() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int size = 8 << random.nextInt(8);
      Heard heard = new Heard(size);
      heard.calls(random);
      within(heard.sketch, heard.truth, "seed " + seed);
      assertThat((double) heard.sketch.error())
          .as("seed %d", seed)
          .isLessThanOrEqualTo(3.5 / size * heard.sketch.total());
    }
  }

  @Test
  void mergedSketchesKeepTheirBounds() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int size = 16 << random.nextInt(6);
      List<HotCounter> sketches = new ArrayList<>();
      Long2LongOpenHashMap truth = new Long2LongOpenHashMap();
      for (int core = 0; core < 1 + seed % 5; core++) {
        Heard heard = new Heard(size);
        heard.calls(random);
        sketches.add(heard.sketch);
        heard.truth.forEach((address, calls) -> truth.addTo(address, calls));
      }
      within(new SketchedCounts(HotSettings.SEED, size).merge(sketches), truth, "seed " + seed);
    }
  }

  @Test
  void exactCountsAreTheTruth() {
    Heard heard = new Heard(8);
    heard.calls(new SplittableRandom(7));
    assertThat(heard.exact.counts()).hasSize(heard.truth.size());
    for (HotCount count : heard.exact.counts()) {
      assertThat(count.hits()).isEqualTo(heard.truth.get(count.address()));
      assertThat(count.ratio()).isEqualTo(1024 * count.hits() / heard.exact.total());
    }
    assertThat(heard.exact.error()).isZero();
    assertThat(heard.exact.counts())
        .isEqualTo(new ExactCounts(HotSettings.SEED).merge(List.of(heard.exact)).counts());
  }

  @Test
  void whatTheExactTableHasNoRoomForIsCountedTogether() {
    ExactCounts counts = new ExactCounts(HotSettings.SEED);
    for (long i = 1; i <= ExactCounts.MAX_ADDRESSES + 5; i++) {
      counts.hit(i);
    }
    counts.hit(1);
    assertThat(counts.notKept()).isEqualTo(5);
    assertThat(counts.total()).isEqualTo(ExactCounts.MAX_ADDRESSES + 6);
    assertThat(counts.counts().getFirst()).isEqualTo(HotCount.exact(1, 2, 0));
  }

  @Test
  void aSizeThatIsNoPowerOfTwoIsRefused() {
    assertThatThrownBy(() -> new SketchedCounts(HotSettings.SEED, 1000))
        .hasMessageContaining("power of two");
  }

  private static void within(HotCounter sketch, Long2LongOpenHashMap truth, String seed) {
    assertThat(sketch.total()).as(seed).isEqualTo(truth.values().longStream().sum());
    Long2LongOpenHashMap missing = truth.clone();
    for (HotCount count : sketch.counts()) {
      long calls = truth.get(count.address());
      assertThat(calls).as(seed + " " + count).isBetween(count.atLeast(), count.atMost());
      assertThat(count.atMost() - count.atLeast()).as(seed).isLessThanOrEqualTo(sketch.error());
      missing.remove(count.address());
    }
    missing.forEach(
        (address, calls) ->
            assertThat(calls).as(seed + " missing " + address).isLessThanOrEqualTo(sketch.error()));
  }
}
