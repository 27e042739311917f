package dev.retstack.service.cluster;

import java.time.Duration;
import java.util.Collections;
import java.util.Set;

/**
 * Notices that a job has two clusters, as when all members of one were frozen while the other was
 * founded: the smaller one ends, and its members join the larger one. A pure state machine.
 */
final class Strangers {
  /** Longer than a member that died stays in the nodes topic, or one that joins is not known. */
  static final Duration PATIENCE = Duration.ofSeconds(25);

  private boolean areThere;
  private long since;

  /**
   * Takes a look.
   *
   * @param own members of this cluster
   * @param others members of clusters that are not in this one
   * @return whether this cluster is to end
   */
  boolean areToStay(Set<String> own, Set<String> others, long nanos) {
    if (others.isEmpty() || !isSmaller(own, others)) {
      areThere = false;
      return false;
    }
    if (!areThere) {
      areThere = true;
      since = nanos;
    }
    return nanos - since >= PATIENCE.toNanos();
  }

  private static boolean isSmaller(Set<String> own, Set<String> others) {
    return own.size() == others.size()
        ? Collections.min(others).compareTo(Collections.min(own)) < 0
        : own.size() < others.size();
  }
}
