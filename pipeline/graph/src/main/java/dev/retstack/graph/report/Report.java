package dev.retstack.graph.report;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.totals.TimeRules;
import java.util.List;

/**
 * What the calls of some cores add up to.
 *
 * @param units unit of all durations, and the cores of others
 * @param records records received, of any kind
 * @param lost records known to be missing
 * @param untraced calls known to have made no records: ret_stack was full, or their slot held no
 *     return address
 * @param resultHash SHA-256 in hex over the canonical text of the result; TOTALS.md has its form
 * @param functions by total, largest first; then by name, image and address
 * @param edges by total, largest first; then by caller, callee, image and addresses
 * @param stats what is not zero, in the order of {@link dev.retstack.graph.check.Stat}
 * @param cores by name, then session
 * @param systemCalls by calls, most first; then by name and ISA
 * @param rules which time is in the totals
 * @param choice the tasks that functions and edges are of; all else is of all
 * @param byTask the same for each of these tasks, by core, in the order in which they appeared;
 *     none where the state does not add up by task
 * @param partial whether partitions of its job are missing: then it is not complete
 */
public record Report(
    UnitGroups.Choice units,
    long records,
    long lost,
    long untraced,
    String resultHash,
    List<FunctionRow> functions,
    List<EdgeRow> edges,
    List<StatRow> stats,
    List<CoreRow> cores,
    List<SystemCallRow> systemCalls,
    TimeRules rules,
    TaskChoice choice,
    List<ContextRow> byTask,
    boolean partial) {

  /** Unit of all durations. */
  public ClockUnit unit() {
    return units.unit();
  }

  /** What its cores are called. */
  public SessionNames names() {
    return SessionNames.of(cores.stream().map(CoreRow::session));
  }

  /** Whether rows are those of one session of several. */
  public boolean isBySession() {
    return functions.stream().anyMatch(row -> !row.session().isEmpty());
  }

  /** This report, where functions and edges of all tasks are joined by program if asked for. */
  public Report by(Grouping grouping) {
    return grouping != Grouping.GROUPS
        ? this
        : new Report(
            units,
            records,
            lost,
            untraced,
            resultHash,
            FunctionRow.grouped(functions).sorted(ProfileRows.FUNCTION_ORDER).toList(),
            EdgeRow.grouped(edges).sorted(ProfileRows.EDGE_ORDER).toList(),
            stats,
            cores,
            systemCalls,
            rules,
            choice,
            byTask,
            partial);
  }

  /** This report, marked as partial or not. */
  public Report partial(boolean isMissing) {
    return new Report(
        units,
        records,
        lost,
        untraced,
        resultHash,
        functions,
        edges,
        stats,
        cores,
        systemCalls,
        rules,
        choice,
        byTask,
        isMissing);
  }

  /** Whether it is of a trace that was cut off. */
  public boolean isCut() {
    return isCut(stats);
  }

  /** Whether these stats are of a trace that was cut off. */
  public static boolean isCut(List<StatRow> stats) {
    return stats.stream().anyMatch(row -> row.stat() == Stat.CUT_TRACES);
  }

  /** See {@link #completeness(long, long, long, boolean)}. */
  public double completeness() {
    return completeness(records, lost, untraced, isCut() || partial);
  }

  /**
   * Records received, in percent of those that a capture without any loss would have made. A call
   * makes two. It is 100 only where nothing is known to be missing.
   *
   * @param cut whether what came behind a cut is missing: nobody knows how much that is
   */
  public static double completeness(long records, long lost, long untraced, boolean cut) {
    double missing = lost + 2.0 * untraced;
    if (missing == 0 && !cut) {
      return 100;
    }
    double percent = records == 0 ? 0 : 100.0 * records / (records + missing);
    return Math.min(percent, Math.nextDown(100.0));
  }
}
