package dev.retstack.graph.report;

import dev.retstack.graph.aggregate.CallTreeLog;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ClockUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The calls of one task of one core as they were nested. After a tail call the new function stands
 * beside the one that called it, since that one had ended.
 *
 * @param task id of the task, as its records say; 0 for the core's first
 * @param instance which of the tasks of that id, from 1
 * @param taskName its name: symbol+offset of its id, else "task" and its id
 * @param roots outermost calls, and what happened beside them
 * @param kept rows in the trees of the core
 * @param notKept further calls, beyond the limit per core; in the last tree of the core
 */
public record CallTree(
    String session,
    String core,
    long task,
    int instance,
    String taskName,
    String image,
    String isa,
    ClockUnit unit,
    List<CallNode> roots,
    long kept,
    long notKept) {

  private record Task(long id, int instance) {}

  private record Copied(CallNode node, Consumer<CallNode> into) {}

  /**
   * What went on in a time: all calls that had begun by its end and not ended before its beginning.
   *
   * @param from first time, in the unit of the core
   * @param to last time; the same as {@code from} for the calls that were open then
   */
  public CallTree within(long from, long to) {
    List<CallNode> chosen = new ArrayList<>();
    Deque<Copied> todo = new ArrayDeque<>();
    roots.forEach(root -> todo.add(new Copied(root, chosen::add)));
    while (!todo.isEmpty()) {
      Copied next = todo.remove();
      if (next.node().enter() <= to && next.node().exit() >= from) {
        CallNode copy = next.node().alone();
        next.into().accept(copy);
        next.node().children().forEach(child -> todo.add(new Copied(child, copy::add)));
      }
    }
    return new CallTree(
        session, core, task, instance, taskName, image, isa, unit, chosen, kept, notKept);
  }

  /** The trees of a core's tasks, in the order in which they appeared. */
  static List<CallTree> of(CoreGraph core) {
    CallTreeLog log = core.tree();
    Map<Task, List<CallNode>> roots = new LinkedHashMap<>();
    CallNode[] nodes = new CallNode[log.size()];
    CallNodes names = new CallNodes(core);
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = names.node(i);
      if (log.parent(i) < 0) {
        roots
            .computeIfAbsent(new Task(log.task(i), log.instance(i)), _ -> new ArrayList<>())
            .add(nodes[i]);
      } else {
        nodes[log.parent(i)].add(nodes[i]);
      }
    }
    if (roots.isEmpty()) {
      roots.put(new Task(0, 1), List.of());
    }
    List<CallTree> trees = new ArrayList<>();
    roots.forEach(
        (task, calls) -> {
          boolean last = trees.size() == roots.size() - 1;
          trees.add(
              new CallTree(
                  core.key().session(),
                  core.key().core(),
                  task.id(),
                  task.instance(),
                  core.image().taskName(task.id(), task.instance()),
                  core.image().name(),
                  core.image().isa(),
                  core.unit(),
                  calls,
                  nodes.length,
                  last ? core.stats().get(Stat.TREE_CALLS_NOT_KEPT) : 0));
        });
    return trees;
  }
}
