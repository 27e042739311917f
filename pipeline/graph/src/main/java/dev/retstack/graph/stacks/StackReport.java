package dev.retstack.graph.stacks;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.report.UnitGroups;

/**
 * What the calls of some cores add up to by their stacks.
 *
 * @param units unit of all times, and the cores of others
 * @param all the node of all of them
 * @param notKept calls that are in no node: a call tree has no room for them, and the state was not
 *     asked for stacks
 */
public record StackReport(UnitGroups.Choice units, StackNode all, long notKept) {
  /**
   * Adds up what the calls of these tasks of cores add up to.
   *
   * @param cores all of them count in the unit that was chosen
   * @param summed whether equal stacks of several sessions are one; where not, each session stands
   *     apart
   */
  public static StackReport of(
      Iterable<CoreGraph> cores,
      UnitGroups.Choice units,
      TaskChoice tasks,
      StackNode.Apart apart,
      boolean summed) {
    StackNode all = StackNode.all();
    long notKept = 0;
    for (CoreGraph core : cores) {
      StackNode root = summed ? all : all.below("session " + core.key().session());
      root.add(core, tasks, apart);
      notKept += core.stats().get(Stat.TREE_CALLS_NOT_KEPT);
    }
    all.sum();
    return new StackReport(units, all, notKept);
  }

  /** Unit of all times. */
  public ClockUnit unit() {
    return units.unit();
  }
}
