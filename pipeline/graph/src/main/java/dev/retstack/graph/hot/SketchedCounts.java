package dev.retstack.graph.hot;

import java.util.Arrays;
import java.util.List;
import org.apache.datasketches.frequencies.ErrorType;
import org.apache.datasketches.frequencies.FrequentLongsSketch;

/**
 * The most-called addresses in fixed memory: the frequent-items sketch of Apache DataSketches
 * (Misra and Gries, in the form of Anderson and others 2017). Every true number of calls lies
 * between {@link HotCount#atLeast} and {@link HotCount#atMost}, which are at most {@link #error}
 * apart. An address that is not reported was called at most that often.
 */
public final class SketchedCounts implements HotCounter {
  /** Size of a sketch unless told otherwise: errors below 0.4 % of all calls in 18 KiB. */
  public static final int DEFAULT_SIZE = 1024;

  private static final int MIN_SIZE = 8;
  private static final int MAX_SIZE = 1 << 20;

  private final HotSettings settings;
  private final int size;
  private final FrequentLongsSketch sketch;

  /** Calls, and error, of merged sketches that had thrown out every address they knew. */
  private long unknownCalls;

  private long unknownError;

  /**
   * An empty sketch.
   *
   * @param size places of its table, a power of two; three quarters of it are addresses at most
   */
  public SketchedCounts(HotSettings settings, int size) {
    if (size < MIN_SIZE || size > MAX_SIZE || Integer.bitCount(size) != 1) {
      throw new IllegalArgumentException(
          "sketch of %d places: use a power of two from %d to %d"
              .formatted(size, MIN_SIZE, MAX_SIZE));
    }
    this.settings = settings;
    this.size = size;
    this.sketch = new FrequentLongsSketch(size);
  }

  @Override
  public void hit(long address) {
    if (!settings.ignores(address)) {
      sketch.update(settings.base(address));
    }
  }

  /** Addresses that may be among the frequent ones: none that was called more often is missing. */
  @Override
  public List<HotCount> counts() {
    return Arrays.stream(sketch.getFrequentItems(0, ErrorType.NO_FALSE_NEGATIVES))
        .map(
            row ->
                new HotCount(
                    row.getItem(),
                    row.getEstimate(),
                    row.getLowerBound(),
                    row.getUpperBound() + unknownError,
                    HotCount.ratio(row.getEstimate(), total())))
        .sorted(ExactCounts.ORDER)
        .toList();
  }

  @Override
  public long total() {
    return sketch.getStreamLength() + unknownCalls;
  }

  @Override
  public long error() {
    return sketch.getMaximumError() + unknownError;
  }

  @Override
  public long notKept() {
    return 0;
  }

  @Override
  public HotCounter merge(List<HotCounter> others) {
    SketchedCounts all = new SketchedCounts(settings, size);
    for (HotCounter other : others) {
      all.add((SketchedCounts) other);
    }
    return all;
  }

  /** The library takes a sketch without addresses for one that saw no calls. */
  private void add(SketchedCounts other) {
    unknownCalls += other.unknownCalls;
    unknownError += other.unknownError;
    if (other.sketch.isEmpty()) {
      unknownCalls += other.sketch.getStreamLength();
      unknownError += other.sketch.getMaximumError();
    } else {
      sketch.merge(other.sketch);
    }
  }
}
