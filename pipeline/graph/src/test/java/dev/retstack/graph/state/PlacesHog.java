package dev.retstack.graph.state;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.places.LogPlaces;
import dev.retstack.graph.places.Place;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Fills the index of a partition within a budget that is too small for it, and prints for several
 * numbers of cores what the account says that it holds, and what it holds.
 */
final class PlacesHog {
  private PlacesHog() {}

  public static void main(String[] args) throws Exception {
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[0]));
    for (int cores : new int[] {1, 100, 10_000}) {
      StateBudget budget = new StateBudget(16 << 20, 0);
      LogPlaces places = new LogPlaces(budget);
      long time = 0;
      for (long offset = 0; offset < 1_000_000; offset++) {
        CoreKey key = new CoreKey("session", "core-" + random.nextInt(cores));
        time += random.nextInt(1 << 20);
        places.add(key, Place.of(20 * offset, offset, offset << 12, time - 1000, time, true));
      }
      long heap = new HeapWalk(Set.of(StateBudget.class, StateBudget.Account.class)).bytes(places);
      System.out.println(cores + "-cores " + places.bytes() + " " + heap);
    }
  }
}
