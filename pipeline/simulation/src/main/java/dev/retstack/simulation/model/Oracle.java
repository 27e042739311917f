package dev.retstack.simulation.model;

import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.Ending;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Totals of true calls, computed in the naive way: every question walks up the parents. It shares
 * no code with the pipeline.
 */
public final class Oracle {
  /** Totals of one function or one edge. */
  public static final class Row {
    public long calls;
    public long finished;
    public long total;
    public long self;
    public long min = Long.MAX_VALUE;
    public long max;

    /** From begin to end, whatever the rules are. */
    public long wall;
  }

  /** A caller and a callee. */
  public record Edge(long caller, long callee) {}

  public final Map<Long, Row> functions = new HashMap<>();
  public final Map<Edge, Row> edges = new HashMap<>();

  private final TimeRules rules;

  public Oracle(List<TrueCall> calls) {
    this(calls, TimeRules.DEFAULT);
  }

  /** Totals in which time counts by these rules. */
  public Oracle(List<TrueCall> calls, TimeRules rules) {
    this.rules = rules;
    add(calls);
  }

  /** Adds the calls of one more core. */
  public void add(List<TrueCall> calls) {
    Map<TrueCall, Long> below = new HashMap<>();
    for (TrueCall call : calls) {
      if (call.parent != null && call.ending != Ending.OPEN) {
        below.merge(call.parent, call.ran(), Long::sum);
      }
    }
    for (TrueCall call : calls) {
      if (call.interrupt != null && !rules.interrupts()) {
        continue;
      }
      long self = call.ran() - below.getOrDefault(call, 0L);
      boolean outermost = true;
      boolean outermostEdge = true;
      for (TrueCall above = call.parent; above != null; above = above.parent) {
        outermost &= above.selfPc != call.selfPc;
        outermostEdge &= !sameEdge(above, call);
      }
      boolean alone = !rules.graphTime();
      Row row = functions.computeIfAbsent(call.selfPc, _ -> new Row());
      add(row, call, self, outermost || alone);
      row.wall += outermost && call.ending != Ending.OPEN ? call.exit - call.enter : 0;
      if (call.caller != null) {
        Edge edge = new Edge(call.caller.selfPc, call.selfPc);
        add(edges.computeIfAbsent(edge, _ -> new Row()), call, self, outermostEdge || alone);
      }
    }
  }

  private static boolean sameEdge(TrueCall a, TrueCall b) {
    return a.selfPc == b.selfPc
        && a.caller != null
        && b.caller != null
        && a.caller.selfPc == b.caller.selfPc;
  }

  private void add(Row row, TrueCall call, long self, boolean outermost) {
    row.calls++;
    if (call.ending == Ending.OPEN) {
      return;
    }
    long duration = rules.graphTime() ? took(call) : self;
    row.finished++;
    row.total += outermost ? duration : 0;
    row.self += self;
    row.min = Math.min(row.min, duration);
    row.max = Math.max(row.max, duration);
  }

  private long took(TrueCall call) {
    long without =
        (rules.sleepTime() ? 0 : call.away) + (rules.interrupts() ? 0 : call.interrupted);
    return call.exit - call.enter - without;
  }
}
