package dev.retstack.cli.result;

import dev.retstack.answers.export.GraphView;
import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.DurationsView;
import dev.retstack.answers.view.OpenCallsView;
import dev.retstack.answers.view.TimelineView;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.OpenCallRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.file.TraceIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack graph}: the call tree. */
@Command(
    name = "graph",
    description = {
      "Show the call tree of each task of each core.",
      "The form is that of the kernel's function_graph tracer. Defects and losses stand"
          + " in the tree where they were found.",
      "A running pipeline reads the calls of a time from Kafka again:"
          + " retstack graph --live --core cpu0 --at 500 --window 100"
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount -o trace.avro -- longjmp",
      "  retstack graph trace.avro",
      "  retstack graph trace.avro --task 0",
      "  retstack graph trace.avro --at 500 --window 100",
      "  retstack graph trace.avro --from 400 --to 600",
      "  retstack graph trace.avro --open",
      "  retstack graph trace.avro --durations --function leap_leaf",
      "  retstack graph trace.avro --timeline --width 60",
      "  retstack graph trace.avro --timeline --from 400 --to 600 --depth 8"
    })
public final class GraphVerb extends ResultVerb {
  @Option(
      names = "--depth",
      paramLabel = "N",
      description =
          "Do not show calls that are nested deeper (default: show all). With --timeline: show so"
              + " many lines of a core at most, outer calls first (default: 64).")
  private int maxDepth = Integer.MAX_VALUE;

  @Option(
      names = "--timeline",
      description =
          "Show what went on when: a line for each depth of each task, and a character for each"
              + " stretch of time. Also for a trace of a billion calls, at once, as it is read from"
              + " the pyramid that the trace ends with.")
  private boolean timeline;

  @Option(
      names = "--width",
      paramLabel = "N",
      description = "With --timeline: divide the time into N stretches at most (default: 100).")
  private Integer width;

  @Option(
      names = "--max-calls",
      defaultValue = "1000000",
      paramLabel = "N",
      description =
          "Calls kept per core; further calls are only counted (default: ${DEFAULT-VALUE}).")
  private int maxCalls;

  @Option(
      names = "--open",
      description = "List the calls that have not ended, and for how long they have been open.")
  private boolean open;

  @Option(
      names = "--durations",
      description =
          "Show how long single calls took: a histogram, and percentiles that are at most a"
              + " sixteenth too long.")
  private boolean durations;

  @Option(
      names = "--function",
      paramLabel = "NAME",
      description = "With --durations: of this function only, by any of its names (default: all).")
  private String function = "";

  @Option(
      names = "--sum-sessions",
      description = "With --durations: take calls of several sessions together.")
  private boolean sumSessions;

  @Mixin private UnitOption unit;
  @Mixin private TaskOption task;
  @Mixin private WindowOptions window;
  @Mixin private TimeOptions time;

  @Override
  TimeOptions time() {
    return time;
  }

  @Override
  WindowOptions window() {
    return window;
  }

  @Override
  Optional<TraceReplay.Window> part() {
    return window.shown();
  }

  @Override
  int show(GraphState state, Format shape) throws IOException {
    List<CallTree> trees =
        CallTree.only(
                ReportBuilder.of(state).trees(),
                t -> window.has(key(t)) && task.choice().has(t.task(), t.taskName()))
            .stream()
            .map(t -> window.isTime() ? t.within(window.from(), window.to()) : t)
            .toList();
    task.require(!trees.isEmpty(), state);
    if (open) {
      showOpen(state, trees, shape);
      return ExitCode.OK;
    }
    if (durations) {
      try {
        write(
            state,
            shape,
            DurationsView.of(trees, unit.unit(), function, sumSessions, Optional.empty()));
      } catch (BadRequestException e) {
        throw CommandException.badInput(
            "%s; %s%s"
                .formatted(
                    e.getMessage(),
                    e.cure(),
                    e.status() == 409 ? ": --session, --core or --sum-sessions" : ""),
            e);
      }
      return ExitCode.OK;
    }
    List<AnomalyRow> anomalies =
        ReportBuilder.of(state).anomalies().stream()
            .filter(a -> window.has(new CoreKey(a.session(), a.core())) && window.has(a.time()))
            .toList();
    Output.write(out(), shape, GraphView.of(trees, anomalies, maxDepth, state.isCut()));
    return ExitCode.OK;
  }

  @Override
  boolean showsOther(SourceOptions from, Format shape) throws IOException {
    if (!timeline) {
      if (width != null) {
        throw usage("--width: give --timeline with it");
      }
      return false;
    }
    int pixels = pixels();
    int lines = lines();
    if (open || pixels < 1 || pixels > Timeline.WIDTH_MAX || lines < 1) {
      throw usage(
          "--timeline: give --width from 1 to %,d, --depth of at least 1, and not --open"
              .formatted(Timeline.WIDTH_MAX));
    }
    if (from.live()) {
      return false;
    }
    Timeline.Question question = new Timeline.Question(window.from(), window.to(), pixels, lines);
    try (TraceTimeline trace = TraceTimeline.open(from.trace(), from.symbols().read());
        ProgressLine line = new ProgressLine(terminal())) {
      List<TraceTimeline.Answer> answers = new ArrayList<>();
      for (TraceIndex.Core core : trace.cores()) {
        if (window.has(key(core))) {
          answers.add(trace.answer(core, question, true, line.chunks("read")));
        }
      }
      window.require(trace.cores().stream().map(GraphVerb::key).toList());
      trace.notices().forEach(terminal()::note);
      if (!trace.remark().isEmpty()) {
        terminal().note(trace.remark());
      }
      Output.write(out(), shape, CutOff.ahead(trace.isCut(), TimelineView.of(answers)));
      return true;
    } catch (IOException e) {
      throw SourceOptions.unreadable(from.trace(), e);
    }
  }

  private static CoreKey key(TraceIndex.Core core) {
    return new CoreKey(core.session(), core.core());
  }

  private static CoreKey key(CallTree tree) {
    return new CoreKey(tree.session(), tree.core());
  }

  private int pixels() {
    return width == null ? TimelineView.WIDTH : width;
  }

  private int lines() {
    return maxDepth == Integer.MAX_VALUE ? TimelineView.LINES : maxDepth;
  }

  private void showOpen(GraphState state, List<CallTree> trees, Format shape) throws IOException {
    List<OpenCallRow> calls = OpenCallRow.of(trees);
    long all =
        state.summaries().stream()
            .filter(core -> window.has(core.key()))
            .mapToLong(CoreSummary::open)
            .sum();
    write(state, shape, OpenCallsView.of(calls, all, Optional.empty()));
  }

  @Override
  boolean explains() {
    if (unit.unit().isPresent() && !durations) {
      throw usage("--unit: give --durations with it; a tree is that of one core, in its unit");
    }
    if (sumSessions && !durations) {
      throw usage("--sum-sessions: give --durations with it");
    }
    if (!function.isEmpty() && !durations) {
      throw usage("--function: give --durations with it");
    }
    if (Stream.of(durations, open, timeline).filter(given -> given).count() > 1) {
      throw usage("give one of --durations, --open and --timeline");
    }
    if (open && window.isTime()) {
      throw usage(
          "give --open for the end, or a time, not both: --open and %s".formatted(window.given()));
    }
    return false;
  }

  @Override
  GraphLimits limits() {
    return GraphLimits.DEFAULT.withTreeCallsPerCore(maxCalls);
  }

  @Override
  String resource() {
    return timeline ? "timeline" : open ? "calls/open" : durations ? "durations" : "graph";
  }

  @Override
  Map<String, String> parameters() {
    Map<String, String> parameters = new TreeMap<>(task.parameters());
    parameters.putAll(window.parameters());
    if (timeline) {
      parameters.put("width", String.valueOf(pixels()));
      parameters.put("depth", String.valueOf(lines()));
    } else if (durations) {
      parameters.putAll(unit.parameters());
      if (!function.isEmpty()) {
        parameters.put("function", function);
      }
      if (sumSessions) {
        parameters.put("sessions", "sum");
      }
    } else if (!open) {
      parameters.put("depth", String.valueOf(maxDepth));
    }
    return parameters;
  }
}
