package dev.retstack.graph.top;

import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.report.UnitGroups;
import java.util.List;

/**
 * The first functions and cores of a job, and the sums over all of them.
 *
 * @param units unit of all durations, and the cores of others
 * @param records records received by all cores of this unit
 * @param lost records known to be missing
 * @param untraced calls known to have made no records
 * @param functionCount functions of the whole report
 * @param self time in all functions themselves
 * @param functions the first of them
 * @param cores all cores of this unit: those that run ahead, then by records, most first, then by
 *     name
 * @param stats what is not zero, in the order of {@link dev.retstack.graph.check.Stat}
 */
public record Top(
    UnitGroups.Choice units,
    long records,
    long lost,
    long untraced,
    int functionCount,
    long self,
    List<FunctionRow> functions,
    List<CoreSum> cores,
    List<StatRow> stats) {
  public Top {
    functions = List.copyOf(functions);
    cores = List.copyOf(cores);
    stats = List.copyOf(stats);
  }

  /** Unit of all durations. */
  public ClockUnit unit() {
    return units.unit();
  }

  /** See {@link Report#completeness(long, long, long, boolean)}. */
  public double completeness() {
    return completeness(false);
  }

  /**
   * Completeness of the job's figures.
   *
   * @param partial whether partitions of its job are missing
   */
  public double completeness(boolean partial) {
    return Report.completeness(records, lost, untraced, Report.isCut(stats) || partial);
  }
}
