package dev.retstack.graph.report;

import dev.retstack.graph.aggregate.CallTreeLog;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ClockUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * The calls of one task of one core as they were nested. After a tail call the new function stands
 * beside the one that called it, since that one had ended.
 *
 * @param roots outermost calls, and what happened beside them
 * @param kept rows in the tree
 * @param notKept further calls, beyond the limit per core
 */
public record CallTree(
    String session,
    String core,
    int task,
    String image,
    String isa,
    ClockUnit unit,
    List<CallNode> roots,
    long kept,
    long notKept) {

  static CallTree of(CoreGraph core) {
    CallTreeLog log = core.tree();
    List<CallNode> roots = new ArrayList<>();
    CallNode[] nodes = new CallNode[log.size()];
    CallNodes names = new CallNodes(core);
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = names.node(i);
      if (log.parent(i) < 0) {
        roots.add(nodes[i]);
      } else {
        nodes[log.parent(i)].add(nodes[i]);
      }
    }
    return new CallTree(
        core.key().session(),
        core.key().core(),
        0,
        core.image().name(),
        core.image().isa(),
        core.unit(),
        roots,
        nodes.length,
        core.stats().get(Stat.TREE_CALLS_NOT_KEPT));
  }
}
