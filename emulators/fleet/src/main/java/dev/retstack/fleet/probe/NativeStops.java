package dev.retstack.fleet.probe;

import java.util.HashMap;
import java.util.Map;

/** Why the probe in C stops its core, by number, and what is done about it. */
final class NativeStops {
  private final NativeLibrary library;
  private final Map<Long, Pacer.Stop> stops = new HashMap<>();
  private final Map<Long, Runnable> answers = new HashMap<>();

  NativeStops(NativeLibrary library) {
    this.library = library;
    for (Pacer.Stop stop : Pacer.Stop.values()) {
      stops.put(library.at("STOP_" + stop), stop);
    }
  }

  /** What is done where the probe asks, before the core goes on at the block it stopped before. */
  NativeStops on(String reason, Runnable answer) {
    answers.put(library.at("ASK_" + reason), answer);
    return this;
  }

  /** What is to be done; null where the probe does not ask. */
  Runnable answer(long number) {
    return answers.get(number);
  }

  /** Why the core stopped, where that is not the probe's affair alone. */
  Pacer.Stop of(long number) {
    return stops.get(number);
  }
}
