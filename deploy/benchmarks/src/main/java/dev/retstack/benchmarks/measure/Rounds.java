package dev.retstack.benchmarks.measure;

import java.util.Arrays;

/** Values of one figure, one per round. */
public final class Rounds {
  private final double[] values;
  private int size;

  public Rounds(int count) {
    values = new double[count];
  }

  public void add(double value) {
    values[size++] = value;
  }

  /** The least one: what other work on the machine disturbed least. */
  public double least() {
    return Arrays.stream(values, 0, size).min().orElse(Double.NaN);
  }

  /** The middle one; of an even number the mean of the two in the middle. */
  public double median() {
    double[] sorted = Arrays.copyOf(values, size);
    Arrays.sort(sorted);
    int middle = size / 2;
    return size % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
