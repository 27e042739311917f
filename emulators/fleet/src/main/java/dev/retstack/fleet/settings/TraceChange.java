package dev.retstack.fleet.settings;

import java.util.List;

/**
 * What became of a core's call sites under new settings.
 *
 * @param sitesOn that were switched on by the change
 * @param sitesOff that were switched off by it
 * @param refused what could not be done, a sentence each, with the cure; the rest was done
 */
public record TraceChange(int sitesOn, int sitesOff, List<String> refused) {
  /** Nothing was to be done. */
  public static final TraceChange NONE = new TraceChange(0, 0, List.of());

  public TraceChange {
    refused = List.copyOf(refused);
  }
}
