package dev.retstack.service.cluster;

import dev.retstack.service.nodes.NodeTable;
import java.util.List;

/**
 * What a member that is in no cluster does next: joins the one that is there, founds it, or waits.
 * A pure function of the nodes topic, whose order all members agree on: of those that came before
 * any cluster was there the first founds it. A member that cannot reach the others sees in the
 * topic that they run, and waits.
 */
final class Joining {
  /** What to do. */
  enum Step {
    /** Nothing yet: its own announcement is not in the topic, or another member founds. */
    WAIT,
    /** Join a cluster that is there. */
    JOIN,
    /** Be the first member of a new one. */
    FOUND
  }

  private Joining() {}

  /**
   * Decides.
   *
   * @param self name of this member
   * @param announced members that run, in the order of the topic
   */
  static Step next(String self, List<NodeTable.Announced> announced) {
    if (!inCluster(self, announced).isEmpty()) {
      return Step.JOIN;
    }
    for (NodeTable.Announced one : announced) {
      boolean own = one.node().getNode().equals(self);
      if (!one.cluster().address().isEmpty()) {
        return own ? Step.FOUND : Step.WAIT;
      }
    }
    return Step.WAIT;
  }

  /** Other members that are in a cluster. */
  static List<NodeTable.Announced> inCluster(String self, List<NodeTable.Announced> announced) {
    return announced.stream()
        .filter(one -> one.cluster().isMember() && !one.node().getNode().equals(self))
        .toList();
  }
}
