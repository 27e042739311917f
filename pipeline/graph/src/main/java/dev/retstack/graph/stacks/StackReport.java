package dev.retstack.graph.stacks;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.report.MixedUnitsException;
import dev.retstack.graph.report.TaskChoice;
import java.util.EnumSet;
import java.util.Set;

/**
 * What the calls of some cores add up to by their stacks.
 *
 * @param unit in which the cores count; instructions where there are none
 * @param all the node of all of them
 * @param notKept calls that are in no node: a call tree has no room for them, and the state was not
 *     asked for stacks
 */
public record StackReport(ClockUnit unit, StackNode all, long notKept) {
  /**
   * Adds up what the calls of these tasks of cores add up to.
   *
   * @param summed whether equal stacks of several sessions are one; where not, each session stands
   *     apart
   * @throws MixedUnitsException where they count in different units
   */
  public static StackReport of(
      Iterable<CoreGraph> cores, TaskChoice tasks, StackNode.Apart apart, boolean summed) {
    StackNode all = StackNode.all();
    Set<ClockUnit> units = EnumSet.noneOf(ClockUnit.class);
    long notKept = 0;
    for (CoreGraph core : cores) {
      units.add(core.unit());
      StackNode root = summed ? all : all.below("session " + core.key().session());
      root.add(core, tasks, apart);
      notKept += core.stats().get(Stat.TREE_CALLS_NOT_KEPT);
    }
    if (units.size() > 1) {
      throw new MixedUnitsException(units);
    }
    all.sum();
    return new StackReport(
        units.isEmpty() ? ClockUnit.INSTRUCTIONS : units.iterator().next(), all, notKept);
  }
}
