package dev.retstack.cli.result;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.CoresView;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;

/** {@code retstack cores}: how far each core came, and how it ended. */
@Command(
    name = "cores",
    description = {
      "Show each core: how far it came, and how it ended.",
      "Columns are its ISA, the chunks and records that it sent, how many are lost, its"
          + " clock, and how it ended. For a running pipeline also its partition."
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount --cores 2 -o trace.avro",
      "  retstack cores trace.avro"
    })
public final class CoresVerb extends ResultVerb {
  @Override
  int show(GraphState state, Format shape) throws IOException {
    List<CoreProgress> cores =
        state.summaries().stream()
            .filter(core -> window().has(core.key()))
            .map(core -> CoreProgress.of(0, core))
            .sorted(Comparator.comparing(CoreProgress::key))
            .toList();
    write(state, shape, CoresView.cores(cores));
    return ExitCode.OK;
  }

  @Override
  Optional<TraceReplay.Window> part() {
    return Optional.empty(); // how far a core came is known when all of it was read
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
