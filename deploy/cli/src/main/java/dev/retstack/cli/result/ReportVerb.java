package dev.retstack.cli.result;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Units;
import dev.retstack.answers.view.ReportView;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack report}: functions, edges, stats and the hash of the result. */
@Command(
    name = "report",
    description = {
      "Show the function report: calls and times per function. A function of several images of one"
          + " program is one row (--by-image).",
      "Times are total, self, min, max and average: the time in which the task of a call ran. Where"
          + " threads took turns, wall is the time from begin to end. The report also says how complete it"
          + " is, and has the hash of the result. The same trace gives the same hash, live or"
          + " replayed, on any host.",
      "With --from, --to or --at it is the report of that time: of calls that began before it or"
          + " end behind it, only the time in it counts. A running pipeline reads that time from Kafka again:"
          + " retstack report --live --core cpu0 --from 1000 --to 2000"
    },
    footer = {
      "  retstack record --image zoo-aarch64-mcount -o trace.avro",
      "  retstack report trace.avro --top 20",
      "  retstack report trace.avro --core zoo-aarch64-mcount-0 --from 1000 --to 2000",
      "  retstack report trace.avro --sleep-time --no-funcgraph-irqs",
      "  retstack report trace.avro --by-task --format csv"
    })
public final class ReportVerb extends ResultVerb {
  @Option(
      names = "--top",
      paramLabel = "N",
      description = "Number of functions or edges shown as text, by total (default: all).")
  private int top = Integer.MAX_VALUE;

  @Option(
      names = "--edges",
      description = "Show the call edges instead of the functions, as text or CSV (JSON has both).")
  private boolean edges;

  @Option(
      names = "--source",
      description =
          "Show where functions begin in their sources, as FILE:LINE, if the image was compiled"
              + " with -g (JSON and CSV always have it).")
  private boolean source;

  @Option(
      names = "--by-task",
      description =
          "Show the totals of each task separately; calls in interrupts of a core are a row"
              + " named \"interrupts\". Result hash, losses and stats are those of all tasks.")
  private boolean byTask;

  @Option(
      names = "--sum-sessions",
      description =
          "Add up the calls of several sessions (default: each session has rows that name it).")
  private boolean sumSessions;

  @Mixin private GroupOption group;
  @Mixin private UnitOption unit;
  @Mixin private TaskOption task;
  @Mixin private WindowOptions window;
  @Mixin private TotalTimeOptions time;

  @Override
  WindowOptions window() {
    return window;
  }

  @Override
  TimeOptions time() {
    return time;
  }

  @Override
  int show(GraphState state, Format shape) throws IOException {
    Report report =
        shown(
                ReportBuilder.of(state)
                    .in(unit.unit())
                    .only(task.choice())
                    .summed(sumSessions)
                    .build())
            .by(group.rows());
    if (shape == Format.CSV) { // it has rows alone
      Units.others(report.units()).forEach(this::note);
    }
    task.require(!report.functions().isEmpty(), state);
    write(state, shape, document(report));
    return ExitCode.OK;
  }

  private Document document(Report report) {
    if (edges) {
      return ReportView.edges(report, top);
    }
    return source ? ReportView.withSources(report, top) : ReportView.of(report, top);
  }

  @Override
  GraphState state() {
    return byTask || !task.choice().isAll()
        ? GraphState.byTask(limits(), time.rules())
        : super.state();
  }

  @Override
  int live() throws IOException, InterruptedException {
    if (source) {
      throw usage("--source: a pipeline's JSON and CSV have it without: use --format json or csv");
    }
    if (byTask || edges || !task.choice().isAll()) {
      throw usage(
          "--task, --by-task, --edges: a pipeline adds up per image, not per task; record a trace"
              + " and report that");
    }
    return super.live();
  }

  /** That no tree was kept is our own choice here and says nothing of the trace. */
  private Report shown(Report all) {
    List<StatRow> stats =
        all.stats().stream().filter(row -> row.stat() != Stat.TREE_CALLS_NOT_KEPT).toList();
    return new Report(
        all.units(),
        all.records(),
        all.lost(),
        all.untraced(),
        all.resultHash(),
        all.functions(),
        all.edges(),
        stats,
        all.cores(),
        all.systemCalls(),
        all.rules(),
        all.choice(),
        byTask ? all.byTask() : List.of(),
        all.partial());
  }

  @Override
  Map<String, String> parameters() {
    Map<String, String> parameters = new TreeMap<>(super.parameters());
    parameters.putAll(group.parameters());
    parameters.putAll(unit.parameters());
    if (sumSessions) {
      parameters.put("sessions", "sum");
    }
    return parameters;
  }

  @Override
  GraphLimits limits() {
    return GraphLimits.DEFAULT.withTreeCallsPerCore(0); // the tree is not shown
  }

  @Override
  String resource() {
    return "report";
  }
}
