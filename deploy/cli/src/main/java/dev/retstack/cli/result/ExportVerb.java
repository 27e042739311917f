package dev.retstack.cli.result;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.service.export.FoldedExport;
import dev.retstack.service.export.PerfettoExport;
import dev.retstack.service.table.Units;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack export}: a trace in the format of another tool. */
@Command(
    name = "export",
    description = {
      "Write a trace in the format of another tool.",
      "  folded    stacks with self time, for flame graph tools and speedscope",
      "  perfetto  a protobuf trace that ui.perfetto.dev opens",
      "With --from, --to or --at: what was in that time, cut to it.",
      "With --live: that time of a running pipeline, which reads its chunks from Kafka again:"
          + " retstack export --live --core cpu0 --from 1000 --to 2000 --format folded -o live.folded"
    },
    footer = {
      "  retstack record --image zoo-aarch64-mcount -o trace.avro",
      "  retstack export trace.avro --format perfetto -o trace.perfetto-trace",
      "  retstack export trace.avro --format folded --from 1000 --to 2000 -o part.folded"
    })
public final class ExportVerb extends Verb {
  /** Formats of other tools. */
  enum Target {
    FOLDED,
    PERFETTO
  }

  @Mixin private SourceOptions source;
  @Mixin private KafkaOptions kafka;

  @Option(
      names = "--format",
      required = true,
      paramLabel = "FORMAT",
      description = "folded or perfetto.")
  private Target target;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "File to write; - for standard output.")
  private Path output;

  @Option(
      names = "--max-calls",
      defaultValue = "5000000",
      paramLabel = "N",
      description =
          "Calls kept per core; further calls are only counted (default: ${DEFAULT-VALUE}).")
  private int maxCalls;

  @Mixin private UnitOption unit;
  @Mixin private TaskOption task;
  @Mixin private WindowOptions window;

  @Option(
      names = "--by-task",
      description =
          "folded: the outermost frame is the name of the task; interrupts have one of their"
              + " own. A perfetto trace always has a track for each task and for its interrupts.")
  private boolean byTask;

  @Option(
      names = "--no-funcgraph-irqs",
      description = "Leave out interrupts and the calls in them.")
  private boolean noInterrupts;

  @Option(
      names = "--sum-sessions",
      description =
          "folded: equal stacks of several sessions are one line (default: the image names the"
              + " session).")
  private boolean sumSessions;

  private long shortened;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (source.problem() != null) {
      throw usage(source.problem());
    }
    if (!window.problem().isEmpty()) {
      throw usage(window.problem());
    }
    if (target == Target.PERFETTO && unit.unit().isPresent()) {
      throw usage("--unit: give --format folded with it; a perfetto trace has a track per core");
    }
    if (!source.live()) {
      var _ = window.of(source.session());
    }
    GraphLimits limits = GraphLimits.DEFAULT.withTreeCallsPerCore(maxCalls);
    TimeRules rules = new TimeRules(false, true, !noInterrupts);
    GraphState empty = new GraphState(limits, rules);
    GraphState state =
        source.live()
            ? source.replayLive(empty, window, kafka, terminal())
            : source.replay(empty, window.counted(), terminal());
    window.require(state);
    if (output.toString().equals("-")) {
      OutputStream out = new BufferedOutputStream(terminal().rawOut());
      write(state, out);
      out.flush();
      tellShortened();
      return ExitCode.OK;
    }
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(output))) {
      write(state, out);
    } catch (IOException e) {
      throw FileTrouble.writing(output, e);
    }
    note("%,d bytes in %s".formatted(Files.size(output), output));
    tellShortened();
    return ExitCode.OK;
  }

  private void tellShortened() {
    if (shortened > 0) {
      note(
          "%s more than %d frames: only the outermost and innermost %d are shown, with %s between"
              .formatted(
                  Count.grouped(shortened, "stack has", "stacks have"),
                  2 * FoldedExport.ENDS,
                  FoldedExport.ENDS,
                  FoldedExport.LEFT_OUT));
    }
  }

  private void write(GraphState state, OutputStream out) throws IOException {
    List<CallTree> trees =
        ReportBuilder.of(state).trees().stream()
            .filter(t -> task.choice().has(t.task(), t.taskName()))
            .toList();
    task.require(!trees.isEmpty(), state);
    switch (target) {
      case FOLDED -> {
        UnitGroups.Choice units = ReportBuilder.of(state).units(_ -> true).choose(unit.unit());
        Units.others(units).forEach(this::note);
        List<CallTree> ofUnit = trees.stream().filter(t -> t.unit() == units.unit()).toList();
        Output.write(
            out,
            writer ->
                shortened =
                    FoldedExport.write(ofUnit, byTask, !sumSessions, state.isCut(), writer));
      }
      case PERFETTO ->
          PerfettoExport.write(trees, ReportBuilder.of(state).anomalies(), state.isCut(), out);
    }
  }
}
