package dev.retstack.graph.state;

import dev.retstack.graph.calls.KnownCore;
import dev.retstack.graph.input.CoreEnd;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Who leaves a state that has no room for a new core: cores of the session that holds most of it,
 * ended ones first, then idle ones, first seen first. A session that holds less loses nothing to
 * it, and cores in use stay. A new core of that session itself takes the place of ended ones alone.
 *
 * <p>Where no session holds most of it, ended cores leave, of sessions that hold no less than that
 * of the new core, those that hold more first. Then idle ones leave of sessions that hold more,
 * those that were not used for longest first.
 */
final class CrowdedState {
  /** So much leaves at once, as a part of what all hold: to find it looks at every core. */
  private static final int PART = 32;

  /** After a look that found too little, this many cores are refused before the next. */
  private static final int PAUSE = 256;

  private int pause;

  /**
   * The cores that leave for a new one; none where there is nobody to leave.
   *
   * @param isIdle whether a core that has not ended is not in use
   * @param session of the new core
   * @param bytes that it needs
   */
  List<KnownCore> leaving(
      Collection<KnownCore> cores, Predicate<KnownCore> isIdle, String session, long bytes) {
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
        hasLargest
            ? ofLargest(cores, isIdle, largest, session)
            : ofLarger(cores, isIdle, held, session)) {
      if (wanted > 0) {
        wanted -= core.account().reserved();
        leaving.add(core);
      }
    }
    pause = wanted > 0 ? PAUSE : 0;
    return leaving;
  }

  private static List<KnownCore> ofLargest(
      Collection<KnownCore> cores, Predicate<KnownCore> isIdle, String largest, String session) {
    List<KnownCore> found = new ArrayList<>();
    for (KnownCore core : cores) {
      boolean goes = isOver(core) || (!session.equals(largest) && isIdle.test(core));
      if (goes && core.key().session().equals(largest)) {
        found.add(core);
      }
    }
    found.sort(Comparator.comparing(core -> !isOver(core))); // stable: first seen first
    return found;
  }

  private static List<KnownCore> ofLarger(
      Collection<KnownCore> cores,
      Predicate<KnownCore> isIdle,
      Map<String, Long> held,
      String session) {
    long least = held.getOrDefault(session, 0L);
    List<KnownCore> over = new ArrayList<>();
    List<KnownCore> idle = new ArrayList<>();
    for (KnownCore core : cores) {
      long its = held.get(core.key().session());
      if (isOver(core) && its >= least) {
        over.add(core);
      } else if (its > least && isIdle.test(core)) {
        idle.add(core);
      }
    }
    over.sort(
        Comparator.<KnownCore>comparingLong(core -> held.get(core.key().session())).reversed());
    idle.sort(Comparator.comparingLong(KnownCore::usedAt));
    over.addAll(idle);
    return over;
  }

  private static boolean isOver(KnownCore core) {
    return core.summary().end() != CoreEnd.RUNNING;
  }
}
