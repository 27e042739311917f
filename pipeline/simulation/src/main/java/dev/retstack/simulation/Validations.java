package dev.retstack.simulation;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.AnomalyLog;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.Oracle;
import dev.retstack.simulation.model.TrueCall;
import dev.retstack.simulation.model.TrueInterrupt;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What must hold between a graph and the truth. Each throws an {@link AssertionError}. */
final class Validations {
  private Validations() {}

  /** Without faults the graph is the truth: every call, every total, every anomaly, no more. */
  static void identical(GraphState state, List<ModelCore> cores) {
    Report report = ReportBuilder.of(state).build();
    Oracle oracle = oracle(cores, state.rules());
    equal("functions", oracle.functions.size(), report.functions().size());
    for (FunctionRow f : report.functions()) {
      Oracle.Row row = oracle.functions.get(f.selfPc());
      equal(f.name(), text(row), text(f));
      equal(f.name() + " from begin to end", row.wall, f.wall());
    }
    equal("edges", oracle.edges.size(), report.edges().size());
    for (EdgeRow e : report.edges()) {
      Oracle.Row row = oracle.edges.get(new Oracle.Edge(e.callerPc(), e.calleePc()));
      equal(e.caller() + ">" + e.callee(), text(row), text(e));
    }
    equal("lost", 0L, report.lost());
    for (ModelCore core : cores) {
      CoreGraph graph = state.core(core.key()).orElseThrow();
      sameTree(graph.tree(), core, state.rules());
      TaskValidations.identical(graph, core.program());
      anomalies(graph, core.program().found);
    }
  }

  /** Under any fault: nothing is invented, and what is missing is counted exactly. */
  static void nothingInvented(GraphState state, List<ModelCore> cores, long lost) {
    nothingInvented(ReportBuilder.of(state).build(), cores);
    equal("lost", lost, ReportBuilder.of(state).build().lost());
    treesAreTrue(state, cores);
  }

  /** No function, edge or time is in the report that is not in the truth. */
  static void nothingInvented(Report report, List<ModelCore> cores) {
    notMore(report, cores, TimeRules.DEFAULT);
  }

  /** Checks that the report has no more than the truth, under any rules of time. */
  static void notMore(GraphState state, List<ModelCore> cores) {
    notMore(ReportBuilder.of(state).build(), cores, state.rules());
  }

  /**
   * The time of a loss counts in the calls that are open across it, though other tasks may have run
   * in it. Where interrupts do not count, it does not either, so that the shortest call may be
   * shown as shorter than it was.
   */
  private static void notMore(Report report, List<ModelCore> cores, TimeRules rules) {
    Oracle least = oracle(cores, rules);
    boolean lossCounts = rules.interrupts();
    Oracle most = oracle(cores, new TimeRules(lossCounts, rules.graphTime(), rules.interrupts()));
    Oracle oracle = rules.sleepTime() ? least : most;
    boolean exact = lossCounts && rules.graphTime();
    for (FunctionRow f : report.functions()) {
      Oracle.Row row = oracle.functions.get(f.selfPc());
      if (row == null || f.wall() > row.wall) {
        throw new AssertionError(
            "%s invented: %d from begin to end, truth %s".formatted(f.name(), f.wall(), text(row)));
      }
      within(
          f.name(),
          row,
          least.functions.get(f.selfPc()),
          f.calls(),
          f.finished(),
          f.total(),
          f.self(),
          exact ? f.min() : Long.MAX_VALUE,
          f.max());
    }
    for (EdgeRow e : report.edges()) {
      Oracle.Edge edge = new Oracle.Edge(e.callerPc(), e.calleePc());
      Oracle.Row row = oracle.edges.get(edge);
      within(
          e.caller() + ">" + e.callee(),
          row,
          least.edges.get(edge),
          e.calls(),
          e.finished(),
          e.total(),
          e.self(),
          exact ? e.min() : Long.MAX_VALUE,
          e.max());
    }
  }

  /** No call and no alarm is in the trees that is not in the truth. */
  static void treesAreTrue(GraphState state, List<ModelCore> cores) {
    for (ModelCore core : cores) {
      state
          .core(core.key())
          .ifPresent(
              graph -> {
                eachCallIsTrue(graph.tree(), core);
                noFalseAlarm(graph, core);
              });
    }
  }

  /** What must hold after every chunk, whatever it was. */
  static void invariants(GraphState state) {
    for (CoreGraph core : state.cores()) {
      if (!core.progress().balanced()) {
        throw new AssertionError("entries and endings do not add up: " + core.progress());
      }
      for (AnomalyKind kind : AnomalyKind.values()) {
        long found =
            core.anomalies().groups().stream()
                .filter(group -> group.where().kind() == kind)
                .mapToLong(AnomalyLog.Group::count)
                .reduce(0, Saturating::sum);
        equal("anomalies of " + core.key() + ": " + kind, core.stats().get(kind.stat()), found);
      }
    }
  }

  private static Oracle oracle(List<ModelCore> cores, TimeRules rules) {
    Oracle oracle = new Oracle(List.of(), rules);
    cores.forEach(core -> oracle.add(core.program().calls));
    return oracle;
  }

  private static void sameTree(CallTreeLog tree, ModelCore core, TimeRules rules) {
    List<TrueCall> calls = core.program().calls;
    int row = 0;
    for (TrueCall call : calls) {
      if (call.interrupt != null && !rules.interrupts()) {
        continue;
      }
      while (row < tree.size() && tree.kind(row) != TreeKind.CALL) {
        row++;
      }
      equal("a row for the call at " + call.enter, true, row < tree.size());
      String place = call.parent == null ? "none" : "call at " + call.parent.enter;
      place = call.parent == null && call.interrupt != null ? interrupt(call.interrupt) : place;
      equal(
          "call " + row,
          "%x in %s, %d..%d %s".formatted(call.selfPc, place, call.enter, call.exit, call.ending),
          "%x in %s, %d..%d %s"
              .formatted(
                  tree.selfPc(row),
                  place(tree, tree.parent(row)),
                  tree.enter(row),
                  tree.exit(row),
                  tree.ending(row)));
      row++;
    }
    eachCallIsTrue(tree, core);
  }

  private static String place(CallTreeLog tree, int row) {
    if (row < 0) {
      return "none";
    }
    return (tree.kind(row) == TreeKind.CALL ? "call" : tree.kind(row)) + " at " + tree.enter(row);
  }

  private static String interrupt(TrueInterrupt interrupt) {
    return TreeKind.INTERRUPT + " at " + interrupt.enter;
  }

  /** Every row of the tree is a call that was made, with its parent, and ended so where it did. */
  static void eachCallIsTrue(CallTreeLog tree, ModelCore core) {
    for (int i = 0; i < tree.size(); i++) {
      String what = "call %d of %s".formatted(i, core.key().core());
      int parent = tree.parent(i);
      if (tree.kind(i) == TreeKind.LOSS) {
        lossIsInside(what, tree, i, core);
        continue;
      }
      if (tree.kind(i) == TreeKind.INTERRUPT || tree.kind(i) == TreeKind.SWITCH) {
        TaskValidations.rowIsTrue(what, tree, i, core);
        continue;
      }
      TrueCall call = core.callAt(tree.enter(i));
      equal(what, call == null ? null : call.selfPc, tree.selfPc(i));
      if (tree.ending(i).finished()) {
        equal(what + " exit", Objects.requireNonNull(call).exit, tree.exit(i));
        equal(what + " ending", call.ending, tree.ending(i));
      } else if (tree.ending(i) == Ending.TRUNCATED) {
        bounds(what, tree, i, Objects.requireNonNull(call));
      }
      TaskValidations.rootIsTrue(what, tree, i, call);
      if (parent >= 0 && tree.kind(parent) == TreeKind.INTERRUPT) {
        TrueInterrupt in = Objects.requireNonNull(call).interrupt;
        equal(what + " interrupt", in == null ? -1 : in.enter, tree.enter(parent));
      } else if (parent >= 0 && tree.kind(parent) == TreeKind.CALL) {
        TrueCall above = Objects.requireNonNull(call).parent;
        equal(what + " parent", above == null ? -1 : above.enter, tree.enter(parent));
      } else if (parent >= 0) {
        liesIn(what, tree, parent, Objects.requireNonNull(call));
      }
    }
  }

  /** A call that was cut off lasted at least, and at most, as long as is said. */
  private static void bounds(String what, CallTreeLog tree, int i, TrueCall call) {
    if (call.exit < tree.exit(i)) {
      throw new AssertionError(
          "%s: at least to %d, but it ended at %d".formatted(what, tree.exit(i), call.exit));
    }
    if (tree.deadBy(i) >= 0 && call.exit > tree.deadBy(i)) {
      throw new AssertionError(
          "%s: at most to %d, but it ended at %d".formatted(what, tree.deadBy(i), call.exit));
    }
  }

  /** The call in which a loss is shown was open all the time. */
  private static void lossIsInside(String what, CallTreeLog tree, int row, ModelCore core) {
    int parent = tree.parent(row);
    if (parent >= 0 && tree.kind(parent) == TreeKind.CALL) {
      TrueCall around = Objects.requireNonNull(core.callAt(tree.enter(parent)));
      if (around.enter > tree.enter(row) || around.exit < tree.exit(row)) {
        throw new AssertionError(
            "%s: a loss from %d to %d in a call from %d to %d"
                .formatted(what, tree.enter(row), tree.exit(row), around.enter, around.exit));
      }
    }
  }

  /** A call whose caller is unknown was made below the call that holds the loss. */
  private static void liesIn(String what, CallTreeLog tree, int loss, TrueCall call) {
    int around = loss;
    while (around >= 0 && tree.kind(around) != TreeKind.CALL) {
      around = tree.parent(around);
    }
    TrueCall above = call.parent;
    while (around >= 0 && above != null && above.enter != tree.enter(around)) {
      above = above.parent;
    }
    if (around >= 0 && above == null) {
      throw new AssertionError(
          "%s was not made below the call %s at %d"
              .formatted(what, Long.toHexString(tree.selfPc(around)), tree.enter(around)));
    }
  }

  /** A loss hides anomalies but does not invent any. */
  static void noFalseAlarm(CoreGraph graph, ModelCore core) {
    none(
        graph,
        Stat.MISPLACED_EXITS,
        Stat.KEYFRAME_MISMATCHES,
        Stat.STACK_JUMPS,
        Stat.TIME_BACKWARDS,
        Stat.BAD_RECORDS,
        Stat.CONTEXTS_DISAGREE,
        Stat.TASKS_NOT_KEPT,
        Stat.FRAMES_NOT_KEPT);
    atMost(graph, Stat.TAIL_CALLS, core);
    atMost(graph, Stat.UNWOUND_CALLS, core);
    atMost(graph, Stat.FRAME_POINTER_MISMATCHES, core);
    atMost(graph, Stat.RETURN_ADDRESS_MISMATCHES, core);
  }

  private static void none(CoreGraph graph, Stat... stats) {
    for (Stat stat : stats) {
      equal(stat.name(), 0L, graph.stats().get(stat));
    }
  }

  private static void atMost(CoreGraph graph, Stat stat, ModelCore core) {
    long truth = core.program().found.getOrDefault(stat, 0L);
    long found = graph.stats().get(stat);
    if (found > truth) {
      throw new AssertionError("%s: %d found, %d planted".formatted(stat, found, truth));
    }
  }

  private static void anomalies(CoreGraph graph, Map<Stat, Long> planted) {
    expect(graph, Stat.TAIL_CALLS, planted);
    expect(graph, Stat.UNWOUND_CALLS, planted);
    expect(graph, Stat.FRAME_POINTER_MISMATCHES, planted);
    expect(graph, Stat.RETURN_ADDRESS_MISMATCHES, planted);
    none(
        graph,
        Stat.MISPLACED_EXITS,
        Stat.KEYFRAME_MISMATCHES,
        Stat.STACK_JUMPS,
        Stat.UNKNOWN_EXITS,
        Stat.TRUNCATED_CALLS,
        Stat.TIME_BACKWARDS,
        Stat.BAD_RECORDS,
        Stat.CONTEXTS_DISAGREE,
        Stat.TASKS_NOT_KEPT,
        Stat.FRAMES_NOT_KEPT);
  }

  private static void expect(CoreGraph graph, Stat stat, Map<Stat, Long> planted) {
    equal(stat.name(), planted.getOrDefault(stat, 0L), graph.stats().get(stat));
  }

  private static void within(
      String what,
      Oracle.Row truth,
      Oracle.Row least,
      long calls,
      long finished,
      long total,
      long self,
      long min,
      long max) {
    boolean invented =
        truth == null
            || calls > truth.calls
            || finished > truth.finished
            || total > truth.total
            || self > truth.self
            || max > truth.max
            || (finished > 0 && min < least.min);
    if (invented) {
      throw new AssertionError(
          "%s invented: calls %d finished %d total %d self %d min %d max %d, truth %s"
              .formatted(what, calls, finished, total, self, min, max, text(truth)));
    }
  }

  private static String text(Oracle.Row r) {
    return r == null
        ? "no such"
        : text(r.calls, r.finished, r.total, r.self, r.finished == 0 ? 0 : r.min, r.max);
  }

  private static String text(FunctionRow r) {
    return text(r.calls(), r.finished(), r.total(), r.self(), r.min(), r.max());
  }

  private static String text(EdgeRow r) {
    return text(r.calls(), r.finished(), r.total(), r.self(), r.min(), r.max());
  }

  private static String text(long calls, long finished, long total, long self, long min, long max) {
    return "calls %d finished %d total %d self %d min %d max %d"
        .formatted(calls, finished, total, self, min, max);
  }

  static void equal(String what, Object expected, Object received) {
    if (!Objects.equals(expected, received)) {
      throw new AssertionError("%s: expected %s, received %s".formatted(what, expected, received));
    }
  }
}
