package dev.retstack.cli.result;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Output;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.OpenCallRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.export.GraphView;
import dev.retstack.service.table.Format;
import dev.retstack.service.view.OpenCallsView;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack graph}: the call tree. */
@Command(
    name = "graph",
    description = {
      "Show the call tree of each task of each core.",
      "The form is that of the kernel's function_graph tracer. Defects and losses stand"
          + " in the tree where they were found."
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount -o trace.avro -- longjmp",
      "  retstack graph trace.avro",
      "  retstack graph trace.avro --task 0",
      "  retstack graph trace.avro --at 500 --window 100",
      "  retstack graph trace.avro --open"
    })
public final class GraphVerb extends ResultVerb {
  @Option(names = "--core", paramLabel = "NAME", description = "Show only this core.")
  private String core;

  @Option(
      names = "--depth",
      paramLabel = "N",
      description = "Do not show calls that are nested deeper (default: show all).")
  private int maxDepth = Integer.MAX_VALUE;

  @Option(
      names = "--max-calls",
      defaultValue = "1000000",
      paramLabel = "N",
      description =
          "Calls kept per core; further calls are only counted (default: ${DEFAULT-VALUE}).")
  private int maxCalls;

  @Option(
      names = "--at",
      paramLabel = "T",
      description = "Show the calls that were open at this time of the cores, in their unit.")
  private Long at;

  @Option(
      names = "--window",
      defaultValue = "0",
      paramLabel = "N",
      description = "With --at: also show the calls within N before and after it.")
  private long window;

  @Option(
      names = "--open",
      description = "List the calls that have not ended, and for how long they have been open.")
  private boolean open;

  @Mixin private TaskOption task;
  @Mixin private TimeOptions time;

  @Override
  TimeOptions time() {
    return time;
  }

  @Override
  int show(GraphState state, Format shape) throws IOException {
    List<CallTree> ofCore =
        ReportBuilder.of(state).trees().stream()
            .filter(t -> core == null || t.core().equals(core))
            .toList();
    if (core != null && ofCore.isEmpty()) {
      throw CommandException.badInput(
          "no core %s in this trace: it has %s"
              .formatted(
                  core,
                  ReportBuilder.of(state).trees().stream()
                      .map(CallTree::core)
                      .collect(Collectors.joining(", "))));
    }
    List<CallTree> trees =
        ofCore.stream()
            .filter(t -> task.choice().has(t.task(), t.taskName()))
            .map(t -> at == null ? t : t.within(from(), to()))
            .toList();
    task.require(!trees.isEmpty(), state);
    if (open) {
      showOpen(state, trees, shape);
      return ExitCode.OK;
    }
    List<AnomalyRow> anomalies =
        ReportBuilder.of(state).anomalies().stream()
            .filter(a -> core == null || a.core().equals(core))
            .filter(a -> at == null || (a.time() >= from() && a.time() <= to()))
            .toList();
    Output.write(out(), shape, GraphView.of(trees, anomalies, maxDepth));
    return ExitCode.OK;
  }

  private void showOpen(GraphState state, List<CallTree> trees, Format shape) throws IOException {
    List<OpenCallRow> calls = OpenCallRow.of(trees);
    long all = state.cores().stream().mapToLong(c -> c.progress().open()).sum();
    Output.write(out(), shape, OpenCallsView.of(calls, all, Optional.empty()));
  }

  private long from() {
    return Math.max(0, at - window);
  }

  private long to() {
    return at > Long.MAX_VALUE - window ? Long.MAX_VALUE : at + window;
  }

  @Override
  boolean explains() {
    if (at == null && window != 0) {
      throw usage("--window %d needs a time: give --at".formatted(window));
    }
    if (open && at != null) {
      throw usage("give --open for the end or --at for a time, not both");
    }
    return false;
  }

  @Override
  GraphLimits limits() {
    return GraphLimits.DEFAULT.withTreeCallsPerCore(maxCalls);
  }

  @Override
  String resource() {
    return open ? "calls/open" : "graph";
  }

  @Override
  Map<String, String> parameters() {
    Map<String, String> parameters = new TreeMap<>(task.parameters());
    if (!open) {
      parameters.put("depth", String.valueOf(maxDepth));
    }
    if (at != null) {
      parameters.put("from", String.valueOf(from()));
      parameters.put("to", String.valueOf(to()));
    }
    if (core != null) {
      parameters.put("core", core);
    }
    return parameters;
  }
}
