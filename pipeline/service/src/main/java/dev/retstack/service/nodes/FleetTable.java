package dev.retstack.service.nodes;

import dev.retstack.schema.Fleet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The living fleets, and the sessions without one, according to the fleets topic. It needs no
 * clock: time is the broker's. It advances with the records of living fleets, and with those that
 * members write while no fleet does ({@link #TICK}). A pure state machine: all readers of the same
 * topic know the same.
 */
public final class FleetTable {
  /** Between two announcements of a fleet. */
  public static final long INTERVAL_MILLIS = 3_000;

  /** Silence after which a fleet is gone, while the topic had other records. */
  public static final long EXPIRY_MILLIS = 5 * INTERVAL_MILLIS;

  /** Key of records that only advance the time. */
  static final String TICK = "time";

  /**
   * No step of the time is longer: where no record came for longer the brokers were away, or
   * nobody's life was in question; no fleet is gone for it.
   */
  private static final long LONGEST_STEP_MILLIS = 2 * INTERVAL_MILLIS;

  /** Fleets that are known, those heard last, gone or not. */
  static final int FLEETS_MAX = 1 << 16;

  private record Entry(String session, long heard, long stamp, boolean left) {}

  private final LinkedHashMap<String, Entry> entries = new LinkedHashMap<>();
  private final BrokerTime time = new BrokerTime(LONGEST_STEP_MILLIS);

  /**
   * Takes a record of the topic.
   *
   * @param fleet what it says; null where it was taken back, or nothing is said
   * @param millis when the broker had it
   */
  public void update(String key, Fleet fleet, long millis) {
    long now = time.at(millis);
    Entry before = entries.remove(key); // the map is in the order of last words
    if (fleet != null) {
      entries.put(key, new Entry(fleet.getSession(), now, millis, false));
    } else if (before != null) {
      entries.put(key, new Entry(before.session(), now, millis, true));
    }
    if (entries.size() > FLEETS_MAX) {
      entries.pollFirstEntry();
    }
  }

  private boolean isGone(Entry entry) {
    return entry.left() || time.now() - entry.heard() > EXPIRY_MILLIS;
  }

  /** Whether a fleet may be alive. Only when the time advances is that known. */
  boolean isAnyInQuestion() {
    return entries.values().stream().anyMatch(entry -> !isGone(entry));
  }

  /**
   * Sessions that had fleets of which none lives now, and when the last of them was heard last, in
   * milliseconds since 1970-01-01 UTC by the broker's clock.
   */
  public Map<String, Long> gone() {
    Map<String, Long> gone = new HashMap<>();
    for (Entry entry : entries.values()) {
      if (isGone(entry)) {
        gone.merge(entry.session(), entry.stamp(), Math::max);
      }
    }
    for (Entry entry : entries.values()) {
      if (!isGone(entry)) {
        gone.remove(entry.session());
      }
    }
    return gone;
  }
}
