package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ClockUnit;

/**
 * What the calls of some cores add up to by their stacks.
 *
 * @param all the node of all of them
 * @param notKept calls that are in no node: a call tree has no room for them, and the state was not
 *     asked for stacks
 */
public record StackReport(ClockUnit unit, StackNode all, long notKept) {
  static StackReport of(
      ClockUnit unit, Iterable<CoreGraph> cores, TaskChoice tasks, StackNode.Apart apart) {
    StackNode all = StackNode.all();
    long notKept = 0;
    for (CoreGraph core : cores) {
      all.add(core, tasks, apart);
      notKept += core.stats().get(Stat.TREE_CALLS_NOT_KEPT);
    }
    all.sum();
    return new StackReport(unit, all, notKept);
  }
}
