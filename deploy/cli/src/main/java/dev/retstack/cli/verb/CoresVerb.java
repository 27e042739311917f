package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.service.export.CoresView;
import dev.retstack.service.progress.CoreProgress;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code retstack cores}: how far each core came, and how it ended. */
@Command(
    name = "cores",
    description = {
      "Show each core: its ISA, how many chunks and records it sent, how many are lost, its clock,",
      "and how it ended. Of a running pipeline also its partition."
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount --cores 2 -o trace.avro",
      "  retstack cores trace.avro"
    })
public final class CoresVerb extends ResultVerb {
  @Override
  int show(GraphState state, Format shape) throws IOException {
    List<CoreProgress> cores =
        state.cores().stream()
            .map(core -> CoreProgress.of(0, core))
            .sorted(Comparator.comparing(CoreProgress::key))
            .toList();
    Output.write(out(), shape, CoresView.cores(cores));
    return ExitCode.OK;
  }

  @Override
  GraphLimits limits() {
    return GraphLimits.DEFAULT.withTreeCallsPerCore(0); // the tree is not shown
  }

  @Override
  String resource() {
    return "cores";
  }
}
