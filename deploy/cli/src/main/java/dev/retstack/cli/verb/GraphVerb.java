package dev.retstack.cli.verb;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.Format;
import dev.retstack.cli.option.TaskOption;
import dev.retstack.cli.option.TimeOptions;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import dev.retstack.service.export.GraphCsv;
import dev.retstack.service.export.GraphJson;
import dev.retstack.service.export.GraphText;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack graph}: the call tree. */
@Command(
    name = "graph",
    description = {
      "Show the call tree of each task of each core, as the kernel's function_graph tracer prints"
          + " it.",
      "What is wrong or missing stands in the tree where it was found."
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount -o trace.avro -- longjmp",
      "  retstack graph trace.avro",
      "  retstack graph trace.avro --task 0"
    })
public final class GraphVerb extends ResultVerb {
  @Option(names = "--core", paramLabel = "NAME", description = "Only this core.")
  private String core;

  @Option(
      names = "--depth",
      paramLabel = "N",
      description = "Calls nested deeper are not shown (default: all).")
  private int maxDepth = Integer.MAX_VALUE;

  @Option(
      names = "--max-calls",
      defaultValue = "1000000",
      paramLabel = "N",
      description = "Calls kept per core; what lies beyond is counted (default: ${DEFAULT-VALUE}).")
  private int maxCalls;

  @Mixin private TaskOption task;
  @Mixin private TimeOptions time;

  @Override
  TimeOptions time() {
    return time;
  }

  @Override
  int show(GraphState state, Format shape) throws IOException {
    List<CallTree> ofCore =
        state.trees().stream().filter(t -> core == null || t.core().equals(core)).toList();
    if (core != null && ofCore.isEmpty()) {
      throw CommandException.badInput(
          "no core %s in this trace: it has %s"
              .formatted(
                  core,
                  state.trees().stream().map(CallTree::core).collect(Collectors.joining(", "))));
    }
    List<CallTree> trees =
        ofCore.stream().filter(t -> task.choice().has(t.task(), t.taskName())).toList();
    task.require(!trees.isEmpty(), state);
    List<AnomalyRow> anomalies =
        state.anomalies().stream().filter(a -> core == null || a.core().equals(core)).toList();
    Output.write(
        out(),
        out -> {
          switch (shape) {
            case TEXT -> GraphText.write(trees, anomalies, maxDepth, out);
            case JSON -> GraphJson.write(trees, maxDepth, out);
            case CSV -> GraphCsv.write(trees, maxDepth, out);
          }
        });
    return ExitCode.OK;
  }

  @Override
  GraphLimits limits() {
    return GraphLimits.DEFAULT.withTreeCallsPerCore(maxCalls);
  }

  @Override
  String resource() {
    return "graph";
  }

  @Override
  Map<String, String> parameters() {
    Map<String, String> parameters = new TreeMap<>(task.parameters());
    parameters.put("depth", String.valueOf(maxDepth));
    if (core != null) {
      parameters.put("core", core);
    }
    return parameters;
  }
}
