package dev.retstack.answers.state;

import java.util.Map;
import java.util.OptionalLong;

/**
 * Sessions without a living fleet. Their cores that have not ended are dead when all was applied
 * that their fleets had sent. This is not part of any state, only of what is shown.
 */
public record Deaths(Map<String, Death> sessions) {
  /** No deaths are known. */
  public static final Deaths NONE = new Deaths(Map.of());

  /**
   * The end of a session's fleets.
   *
   * @param since when the last of them was heard last, milliseconds since 1970-01-01 UTC, broker's
   *     clock
   * @param ends by partition of events, the offset behind all that they sent
   */
  public record Death(long since, Map<Integer, Long> ends) {
    public Death {
      ends = Map.copyOf(ends);
    }
  }

  public Deaths {
    sessions = Map.copyOf(sessions);
  }

  /**
   * Since when cores of a session that have not ended are dead; empty where they are not.
   *
   * @param partition of events that they are in
   * @param nextOffset first offset of it that is not in the state: chunks may wait behind it
   */
  public OptionalLong since(String session, int partition, long nextOffset) {
    Death death = sessions.get(session);
    return death != null && nextOffset >= death.ends().getOrDefault(partition, Long.MAX_VALUE)
        ? OptionalLong.of(death.since())
        : OptionalLong.empty();
  }
}
