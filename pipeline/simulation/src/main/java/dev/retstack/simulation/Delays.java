package dev.retstack.simulation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The order in which things arrive that were sent one after another. Chances are in thousandths.
 */
final class Delays {
  private Delays() {}

  /**
   * The numbers from 0 up to {@code count}, some of them twice, some of them not at all.
   *
   * @param drop chance that one never comes
   * @param again chance that one comes once more
   * @param late chance that an arrival is late
   * @param most places that it may be late by
   */
  static List<Integer> of(
      int count, int drop, int again, int late, int most, SplittableRandom random) {
    record Arrival(int number, int place) {}
    List<Arrival> arrivals = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      if (Faults.hits(random, drop)) {
        continue;
      }
      int times = Faults.hits(random, again) ? 2 : 1;
      for (int i = 0; i < times; i++) {
        int behind = Faults.hits(random, late) ? random.nextInt(most + 1) : 0;
        arrivals.add(new Arrival(number, number + behind));
      }
    }
    // the stable order keeps those in place that are not late
    Collections.sort(arrivals, java.util.Comparator.comparingInt(Arrival::place));
    return arrivals.stream().map(Arrival::number).toList();
  }

  /** Keeps the arrivals that come once and in order. */
  static List<Integer> inOrder(List<Integer> arrivals) {
    List<Integer> kept = new ArrayList<>();
    for (int number : arrivals) {
      if (kept.isEmpty() || number > kept.getLast()) {
        kept.add(number);
      }
    }
    return kept;
  }
}
