package dev.retstack.simulation;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.Oracle;
import dev.retstack.simulation.model.TrueCall;
import dev.retstack.simulation.model.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How much of the truth is still reported when records are missing. A random program is traced, and
 * a share of its records or chunks is lost. The result is compared with what the program did.
 */
public final class Accuracy {
  /** What is lost. */
  public enum Unit {
    /** Single records, which the core counts, as in overwrite mode. */
    RECORDS,
    /** Whole chunks, which never come. */
    CHUNKS
  }

  /**
   * A measure in percent of the truth; right, truncated and missing add up to 100.
   *
   * @param right reported as it was
   * @param truncated reported as cut off by a loss
   * @param missing not reported
   * @param wrong reported and untrue
   */
  public record Shares(double right, double truncated, double missing, double wrong) {
    static Shares of(double truth, double right, double truncated, double wrong) {
      double percent = truth == 0 ? 0 : 100 / truth;
      return new Shares(
          right * percent,
          truncated * percent,
          (truth - right - truncated) * percent,
          wrong * percent);
    }
  }

  /**
   * The accuracy of a run.
   *
   * @param lost share of the records that is lost, in percent
   * @param completeness as the report says, in percent
   * @param calls calls, by their function, parent where known, beginning and end
   * @param edges calls by their caller and callee
   * @param total time of the calls with all below them; of truncated calls the least that is
   *     certain
   * @param self time of the calls without those below them
   */
  public record Result(
      double lost, double completeness, Shares calls, Shares edges, Shares total, Shares self) {}

  private static final int FUNCTIONS = 200;
  private static final int DEPTH = 40;
  private static final int CHUNK_RECORDS = 512;
  private static final GraphLimits LIMITS = GraphLimits.DEFAULT.withTreeCallsPerCore(1 << 22);

  private final ModelCore core;
  private final Oracle oracle;
  private final List<ModelChunk> received;
  private final long sent;
  private final GraphState state = new GraphState(LIMITS);

  private Accuracy(long seed, int calls, Unit unit, double share) {
    SplittableRandom random = new SplittableRandom(seed);
    Workload workload = new Workload(FUNCTIONS, calls, DEPTH, 500, 20, 2, 0);
    core = new ModelCore(new CoreKey("accuracy", "0"), new ModelProgram(random, workload).run());
    oracle = new Oracle(core.program().calls);
    List<long[]> records = core.program().records();
    sent = records.size();
    if (unit == Unit.RECORDS) {
      received = core.cut(dropped(records, share, random), random, CHUNK_RECORDS);
    } else {
      received = core.withKeyframes(random, CHUNK_RECORDS);
      received.removeIf(_ -> random.nextDouble() < share);
    }
  }

  /**
   * Measures one run.
   *
   * @param seed of the program and of the loss
   * @param calls that the program makes
   * @param share that is lost, from 0 to 1
   */
  public static Result measure(long seed, int calls, Unit unit, double share) {
    return new Accuracy(seed, calls, unit, share).measure();
  }

  private Result measure() {
    state.events(new OwnTime(core));
    Subject subject = Subject.of(state);
    received.forEach(subject::apply);
    Report report = ReportBuilder.of(state).build();
    Tally calls = new Tally();
    Tally total = new Tally();
    state.core(core.key()).ifPresent(graph -> walk(graph.tree(), calls, total));
    long time = core.program().calls.stream().mapToLong(call -> call.exit - call.enter).sum();
    return new Result(
        100.0 * (sent - report.records()) / sent,
        report.completeness(),
        calls.of(core.program().calls.size()),
        edges(report),
        total.of(time),
        self(report));
  }

  /** Sums of what was reported, by how it relates to the truth. */
  private static final class Tally {
    long right;
    long truncated;
    long wrong;

    Shares of(long truth) {
      return Shares.of((double) truth, (double) right, (double) truncated, (double) wrong);
    }
  }

  private void walk(CallTreeLog tree, Tally calls, Tally total) {
    for (int i = 0; i < tree.size(); i++) {
      if (tree.kind(i) != TreeKind.CALL) {
        continue;
      }
      long duration = tree.exit(i) - tree.enter(i);
      TrueCall call = core.callAt(tree.enter(i));
      if (call == null || !isTrue(tree, i, call)) {
        calls.wrong++;
        total.wrong += duration;
      } else if (tree.ending(i).finished()) {
        calls.right++;
        total.right += duration;
      } else {
        calls.truncated++;
        total.truncated += tree.ending(i) == Ending.TRUNCATED ? duration : 0;
      }
    }
  }

  private static boolean isTrue(CallTreeLog tree, int row, TrueCall call) {
    int parent = tree.parent(row);
    boolean nested = parent >= 0 && tree.kind(parent) == TreeKind.CALL;
    boolean placed = !nested || (call.parent != null && call.parent.enter == tree.enter(parent));
    boolean ended =
        tree.ending(row).finished()
            ? call.exit == tree.exit(row) && call.ending == tree.ending(row)
            : call.exit >= tree.exit(row)
                && (tree.deadBy(row) < 0 || call.exit <= tree.deadBy(row));
    return placed && ended && call.selfPc == tree.selfPc(row);
  }

  private Shares edges(Report report) {
    Tally tally = new Tally();
    for (EdgeRow edge : report.edges()) {
      Oracle.Row row = oracle.edges.get(new Oracle.Edge(edge.callerPc(), edge.calleePc()));
      add(tally, row == null ? 0 : row.calls, edge.calls());
    }
    return tally.of(oracle.edges.values().stream().mapToLong(row -> row.calls).sum());
  }

  private Shares self(Report report) {
    Tally tally = new Tally();
    for (FunctionRow function : report.functions()) {
      Oracle.Row row = oracle.functions.get(function.selfPc());
      add(tally, row == null ? 0 : row.self, function.self());
    }
    return tally.of(oracle.functions.values().stream().mapToLong(row -> row.self).sum());
  }

  private static void add(Tally tally, long truth, long told) {
    tally.right += Math.min(truth, told);
    tally.wrong += Math.max(0, told - truth);
  }

  private static List<long[]> dropped(List<long[]> records, double share, SplittableRandom random) {
    List<long[]> kept = new ArrayList<>();
    for (long[] record : records) {
      if (random.nextDouble() >= share) {
        kept.add(record);
      } else if (!kept.isEmpty() && kept.getLast()[0] == RecordBatch.LOST) {
        kept.getLast()[1] = record[1];
        kept.getLast()[3]++;
      } else {
        kept.add(new long[] {RecordBatch.LOST, record[1], 0, 1, 0, 0, 0, 0, 0, 0});
      }
    }
    return kept;
  }
}
