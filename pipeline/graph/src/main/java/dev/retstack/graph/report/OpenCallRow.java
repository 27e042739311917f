package dev.retstack.graph.report;

import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.tree.Ending;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A call that has not ended, as far as is known.
 *
 * @param depth calls of its task that are open around it
 * @param enter when it began
 * @param openFor for how long it is open, from its begin to the core's last time
 */
public record OpenCallRow(
    String session,
    String core,
    long task,
    int instance,
    String taskName,
    String function,
    long selfPc,
    int depth,
    long enter,
    long openFor,
    ClockUnit unit) {

  private record Level(List<CallNode> calls, int depth) {}

  /** The open calls of these trees, by tree, outermost first. */
  public static List<OpenCallRow> of(List<CallTree> trees) {
    return trees.stream().flatMap(tree -> of(tree).stream()).toList();
  }

  /** The open calls of a tree, outermost first. */
  public static List<OpenCallRow> of(CallTree tree) {
    List<OpenCallRow> rows = new ArrayList<>();
    Deque<Level> todo = new ArrayDeque<>();
    todo.add(new Level(tree.roots(), 0));
    while (!todo.isEmpty()) {
      Level level = todo.remove();
      for (CallNode node : level.calls()) {
        boolean open = node.isCall() && node.ending() == Ending.OPEN;
        if (open) {
          rows.add(row(tree, node, level.depth()));
        }
        // a call that a loss may have ended can have open ones below
        todo.add(new Level(node.children(), level.depth() + (open ? 1 : 0)));
      }
    }
    return rows;
  }

  private static OpenCallRow row(CallTree tree, CallNode node, int depth) {
    return new OpenCallRow(
        tree.session(),
        tree.core(),
        tree.task(),
        tree.instance(),
        tree.taskName(),
        node.function(),
        node.selfPc(),
        depth,
        node.enter(),
        node.exit() - node.enter(),
        tree.unit());
  }
}
