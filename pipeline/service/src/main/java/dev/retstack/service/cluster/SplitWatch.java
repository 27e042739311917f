package dev.retstack.service.cluster;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Tells when a silent member has been silent for long enough to be held dead, or behind a split. Of
 * the members that reach each other one acts, and a side that is the smaller one waits a little:
 * the larger one is to be first. A pure state machine.
 */
final class SplitWatch {
  /** How much later the smaller side acts: more than two busy members differ by in noticing. */
  static final Duration HANDICAP = Duration.ofSeconds(4);

  /**
   * The cluster as a member sees it.
   *
   * @param reached members that can be reached, this one among them
   * @param silent members that cannot
   * @param leads whether this member is the one of those reached that acts
   */
  record View(Set<String> reached, Set<String> silent, boolean leads) {
    View {
      reached = Set.copyOf(reached);
      silent = Set.copyOf(silent);
    }
  }

  private final long stableNanos;
  private final Map<String, Long> since = new HashMap<>();

  /**
   * @param stableAfter how long a member has to be silent
   */
  SplitWatch(Duration stableAfter) {
    this.stableNanos = stableAfter.toNanos();
  }

  /**
   * Takes a look.
   *
   * @return members that are to be put out if this side goes on; empty where it is not time yet, or
   *     another member acts
   */
  Set<String> due(View view, long nanos) {
    since.keySet().retainAll(view.silent());
    view.silent().forEach(member -> since.putIfAbsent(member, nanos));
    boolean smaller = view.reached().size() < view.silent().size();
    long patience = stableNanos + (smaller ? HANDICAP.toNanos() : 0);
    Set<String> due = new HashSet<>();
    if (view.leads()) {
      since.forEach(
          (member, began) -> {
            if (nanos - began >= patience) {
              due.add(member);
            }
          });
    }
    return due;
  }
}
