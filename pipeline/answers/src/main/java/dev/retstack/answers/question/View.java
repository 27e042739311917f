package dev.retstack.answers.question;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.answers.view.Coverage;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.stacks.StackReport;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.GraphState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Partitions as they were when they were asked for, merged. Immutable. */
public final class View {
  /** Bytes of an answer whose rows are not part of any state. */
  private static final long ANOMALY_BYTES = Runtime.getRuntime().maxMemory() / 16;

  /** Nodes of stacks of one answer, of a core at least, and of a core at most. */
  private static final int STACKS_MAX = 1 << 20;

  private static final int STACKS_LEAST = 1 << 12;
  private static final int STACKS_MOST = 1 << 18;

  private final List<StateCopy> positions = new ArrayList<>();
  private final Coverage coverage;
  private final ReportBuilder merged = new ReportBuilder();
  private final long open;
  private final ForgottenSessions forgotten;

  /** A view of one member's partitions, whose copies are kept. */
  public View(List<StateCopy> copies, int partitionCount) {
    this(
        new ArrayDeque<>(copies),
        new Coverage(copies.stream().map(StateCopy::partition).toList(), partitionCount));
    positions.clear();
    positions.addAll(copies);
  }

  /**
   * These partitions.
   *
   * @param copies are taken out one by one: each is garbage once it is read
   */
  public View(Queue<StateCopy> copies, Coverage coverage) {
    this.coverage = coverage;
    long calls = 0;
    ForgottenSessions dropped = ForgottenSessions.NONE;
    while (!copies.isEmpty()) {
      GraphState state = copies.peek().state();
      positions.add(copies.remove().position());
      merged.add(state);
      dropped = dropped.plus(state.ages().forgotten());
      calls += state.summaries().stream().mapToLong(CoreSummary::open).sum();
    }
    this.open = calls;
    this.forgotten = dropped;
  }

  /** Limits of a state of this number of cores, whose calls add up by their stacks. */
  public static GraphLimits stackLimits(int cores) {
    return GraphLimits.DEFAULT.withStacks(
        Math.clamp(STACKS_MAX / Math.max(1, cores), STACKS_LEAST, STACKS_MOST));
  }

  /** A window, or a whole trace. */
  public View(GraphState window, Coverage coverage) {
    this.coverage = coverage;
    merged.add(window);
    this.open = window.summaries().stream().mapToLong(CoreSummary::open).sum();
    this.forgotten = ForgottenSessions.NONE;
  }

  /**
   * The report over the cores of these partitions that count in this unit.
   *
   * @param unit where it is empty, the usual one
   * @param summed whether several sessions are added up
   */
  public Report report(Optional<ClockUnit> unit, boolean summed) {
    return merged.in(unit).summed(summed).build();
  }

  /**
   * Call trees by core, each made when it is its turn.
   *
   * @param wanted of the trees of these cores, by what stands over them
   * @param shown what is shown of a tree
   */
  ReportBuilder.Trees trees(
      Predicate<CoreSummary> cores, Predicate<CallTree> wanted, UnaryOperator<CallTree> shown) {
    return merged.trees(cores, wanted, shown);
  }

  /** Call trees of all tasks of all cores, by core. */
  public List<CallTree> trees() {
    return trees(_ -> true, _ -> true, tree -> tree);
  }

  /** Anomalies of one core. */
  List<AnomalyRow> anomalies(CoreKey core) {
    return merged.anomalies(core);
  }

  /** What the calls of the tasks of some cores of one unit add up to by their stacks. */
  public StackReport stacks(
      Predicate<CoreSummary> cores,
      Optional<ClockUnit> unit,
      TaskChoice tasks,
      StackNode.Apart apart,
      boolean summed) {
    UnitGroups.Choice units = merged.units(cores).choose(unit);
    Predicate<CoreSummary> ofUnit = cores.and(core -> core.unit() == units.unit());
    return StackReport.of(
        merged.cores(ofUnit), units, tasks, apart, summed || !merged.isOfSeveral(ofUnit));
  }

  /** Calls that are open, also those that no tree has. */
  long open() {
    return open;
  }

  /** What was dropped from these partitions, being silent for too long. */
  public ForgottenSessions forgotten() {
    return forgotten;
  }

  /** Anomalies by core. */
  public List<AnomalyRow> anomalies() {
    return merged.anomalies();
  }

  /** What was found wrong, all of it, as it was asked for. */
  public List<AnomalySum> anomalies(AnomalySum.Query query) {
    return merged.anomalies(query, ANOMALY_BYTES);
  }

  /** Where each partition stood; with its state where it is one of this member's own. */
  public List<StateCopy> partitions() {
    return Collections.unmodifiableList(positions);
  }

  /** Which partitions this is made from. */
  public Coverage coverage() {
    return coverage;
  }
}
