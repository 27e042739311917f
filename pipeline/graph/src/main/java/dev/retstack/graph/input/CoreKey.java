package dev.retstack.graph.input;

import java.util.Comparator;
import java.util.Objects;

/**
 * A core in a run.
 *
 * @param session a run of an image on one core, fresh for each start of the fleet
 * @param core name of the core, unique in the session
 */
public record CoreKey(String session, String core) implements Comparable<CoreKey> {
  private static final Comparator<CoreKey> ORDER =
      Comparator.comparing(CoreKey::core).thenComparing(CoreKey::session);

  public CoreKey {
    Objects.requireNonNull(session);
    Objects.requireNonNull(core);
  }

  /** By core, then by session. */
  @Override
  public int compareTo(CoreKey other) {
    return ORDER.compare(this, other);
  }
}
