package dev.retstack.benchmarks.endurance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Whether a series of samples is flat. The rule: over its second half, the median slope between any
 * two samples (Theil and Sen's) times the length of that half is at most a tenth of the median of
 * that half, or an allowance, whichever is more. A few outliers, such as a collection that has just
 * been, do not move it; neither do the teeth of a saw.
 */
final class Trend {
  private static final double SHARE = 0.1;

  private final List<Double> values = new ArrayList<>();
  private final String name;
  private final double allowance;

  /**
   * A series without samples.
   *
   * @param allowance growth over the second half that is no growth
   */
  Trend(String name, double allowance) {
    this.name = name;
    this.allowance = allowance;
  }

  void add(double value) {
    values.add(value);
  }

  int size() {
    return values.size();
  }

  double last() {
    return values.getLast();
  }

  /** By how much it grows over the second half. */
  double growth() {
    List<Double> half = half();
    double[] slopes = new double[half.size() * (half.size() - 1) / 2];
    int n = 0;
    for (int i = 0; i < half.size(); i++) {
      for (int k = i + 1; k < half.size(); k++) {
        slopes[n++] = (half.get(k) - half.get(i)) / (k - i);
      }
    }
    return n == 0 ? 0 : median(slopes) * (half.size() - 1);
  }

  double level() {
    return median(half().stream().mapToDouble(v -> v).toArray());
  }

  boolean isFlat() {
    return growth() <= Math.max(allowance, SHARE * level());
  }

  private List<Double> half() {
    return values.subList(values.size() / 2, values.size());
  }

  private static double median(double[] of) {
    double[] sorted = of.clone();
    Arrays.sort(sorted);
    return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
  }

  @Override
  public String toString() {
    return "%-28s level %,15.0f  growth %,+13.0f  allowed %,13.0f  %s"
        .formatted(
            name,
            level(),
            growth(),
            Math.max(allowance, SHARE * level()),
            isFlat() ? "flat" : "GROWS");
  }
}
