package dev.retstack.graph.state;

import dev.retstack.graph.calls.KnownCore;
import dev.retstack.graph.calls.RestingCore;
import dev.retstack.graph.input.CoreEnd;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chooses the cores that leave a state without room for a new one: cores of the session that holds
 * most of it, ended ones first, then those at rest, first seen first. A session that holds less
 * loses nothing to it, and cores in use stay. A new core of that session itself takes the place of
 * ended ones alone.
 *
 * <p>Where no session holds most of it, ended cores leave, of sessions that hold no less than that
 * of the new core: those that hold more first.
 */
final class CrowdedState {
  /** Part of all bytes that leaves at once, because finding the cores looks at every core. */
  private static final int PART = 32;

  /** After a look that found too little, this many cores are refused before the next. */
  private static final int PAUSE = 256;

  private int pause;

  /**
   * The cores that leave for a new one; none where there is nobody to leave.
   *
   * @param session of the new core
   * @param bytes that it needs
   */
  List<KnownCore> leaving(Collection<KnownCore> cores, String session, long bytes) {
    if (pause > 0) {
      pause--;
      return List.of();
    }
    Map<String, Long> held = new HashMap<>();
    long all = 0;
    for (KnownCore core : cores) {
      held.merge(core.key().session(), core.account().reserved(), Long::sum);
      all += core.account().reserved();
    }
    String largest =
        held.entrySet().stream()
            .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry::getKey))
            .map(Map.Entry::getKey)
            .orElse("");
    List<KnownCore> leaving = new ArrayList<>();
    long wanted = Math.max(2 * bytes, all / PART);
    boolean hasLargest = 2 * held.getOrDefault(largest, 0L) > all;
    for (KnownCore core :
        hasLargest ? candidates(cores, largest, session) : ended(cores, held, session)) {
      if (wanted > 0) {
        wanted -= core.account().reserved();
        leaving.add(core);
      }
    }
    pause = wanted > 0 ? PAUSE : 0;
    return leaving;
  }

  private static List<KnownCore> candidates(
      Collection<KnownCore> cores, String largest, String session) {
    List<KnownCore> found = new ArrayList<>();
    for (KnownCore core : cores) {
      boolean goes = isOver(core) || (core instanceof RestingCore && !session.equals(largest));
      if (goes && core.key().session().equals(largest)) {
        found.add(core);
      }
    }
    found.sort(Comparator.comparing(core -> !isOver(core))); // stable: first seen first
    return found;
  }

  private static List<KnownCore> ended(
      Collection<KnownCore> cores, Map<String, Long> held, String session) {
    long least = held.getOrDefault(session, 0L);
    List<KnownCore> found = new ArrayList<>();
    for (KnownCore core : cores) {
      if (isOver(core) && held.get(core.key().session()) >= least) {
        found.add(core);
      }
    }
    found.sort(
        Comparator.<KnownCore>comparingLong(core -> held.get(core.key().session())).reversed());
    return found;
  }

  private static boolean isOver(KnownCore core) {
    return core.summary().end() != CoreEnd.RUNNING;
  }
}
