package dev.retstack.cli.result;

import dev.retstack.answers.export.TraceExport;
import dev.retstack.answers.table.Units;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack export}: a trace in the format of another tool. */
@Command(
    name = "export",
    description = {
      "Write a trace in the format of another tool.",
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
  /** The formats, for the help of {@code --format}. */
  private static final class Formats implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Arrays.stream(TraceExport.values()).map(TraceExport::description).iterator();
    }
  }

  @Mixin private SourceOptions source;
  @Mixin private KafkaOptions kafka;

  @Option(
      names = "--format",
      required = true,
      paramLabel = "FORMAT",
      completionCandidates = Formats.class,
      description = "One of: ${COMPLETION-CANDIDATES}.")
  private TraceExport format;

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

  @Override
  protected int run() throws IOException, InterruptedException {
    if (source.problem() != null) {
      throw usage(source.problem());
    }
    if (!window.problem().isEmpty()) {
      throw usage(window.problem());
    }
    if (!format.isOfOneUnit() && unit.unit().isPresent()) {
      throw usage("--unit: a %s trace has all units; leave the option out".formatted(format));
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
    Optional<String> remark;
    if (output.toString().equals("-")) {
      OutputStream out = new BufferedOutputStream(terminal().rawOut());
      remark = write(state, out);
      out.flush();
    } else {
      try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(output))) {
        remark = write(state, out);
      } catch (IOException e) {
        throw FileTrouble.writing(output, e);
      }
      note("%,d bytes in %s".formatted(Files.size(output), output));
    }
    remark.ifPresent(this::note);
    return ExitCode.OK;
  }

  private Optional<String> write(GraphState state, OutputStream out) throws IOException {
    ReportBuilder report = ReportBuilder.of(state);
    Stream<CallTree> trees =
        report.trees().stream().filter(t -> task.choice().has(t.task(), t.taskName()));
    List<CallTree> chosen = trees.toList();
    task.require(!chosen.isEmpty(), state);
    if (format.isOfOneUnit()) {
      UnitGroups.Choice units = report.units(_ -> true).choose(unit.unit());
      Units.others(units).forEach(this::note);
      chosen = chosen.stream().filter(t -> t.unit() == units.unit()).toList();
    }
    return format.write(
        new TraceExport.Calls(chosen, report::anomalies, state.isCut()),
        new TraceExport.Options(byTask, sumSessions),
        out);
  }
}
