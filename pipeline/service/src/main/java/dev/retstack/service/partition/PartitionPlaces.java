package dev.retstack.service.partition;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.places.LogPlaces;
import dev.retstack.graph.places.Place;
import dev.retstack.schema.wire.NearNames;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Where the chunks of some cores stand in one partition of the log.
 *
 * @param position where the partition stood, without its state
 * @param cores those that are meant, with their places in the order of the log
 * @param near names of other cores that may have been meant, where there is none
 */
public record PartitionPlaces(StateCopy position, List<Core> cores, List<String> near) {
  private static final int NEAR_MAX = 3;

  /** A core and its places. */
  public record Core(CoreKey key, List<Place> places) {
    public Core {
      places = List.copyOf(places);
    }
  }

  public PartitionPlaces {
    cores = List.copyOf(cores);
    near = List.copyOf(near);
  }

  /**
   * Of these cores.
   *
   * @param core their name; empty for any
   * @param session theirs; empty for any
   * @param most so many
   */
  static PartitionPlaces of(
      StateCopy position, LogPlaces places, String core, String session, int most) {
    List<Core> found = new ArrayList<>();
    Set<String> others = new LinkedHashSet<>();
    for (CoreKey key : places.cores()) {
      boolean named = core.isEmpty() || core.equals(key.core());
      if (named && (session.isEmpty() || session.equals(key.session()))) {
        if (found.size() < most) {
          found.add(new Core(key, places.of(key)));
        }
      } else {
        others.add(named ? key.session() : key.core());
      }
    }
    String wanted = core.isEmpty() ? session : core;
    return new PartitionPlaces(
        position, found, found.isEmpty() ? NearNames.of(wanted, others, NEAR_MAX) : List.of());
  }
}
