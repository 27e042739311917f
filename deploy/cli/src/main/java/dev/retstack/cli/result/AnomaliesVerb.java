package dev.retstack.cli.result;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.AnomaliesView;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Output;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack anomalies}: what is wrong or missing. {@code --fail-on} is a gate for CI. */
@Command(
    name = "anomalies",
    description = {
      "Show what is wrong or missing, the most severe first.",
      "Anomalies are faults, corrupted frames, changed return addresses and losses. They are"
          + " counted exactly by kind, function and place, over all images of a program"
          + " (--by-image). Exceptions, longjmp, tail calls and"
          + " switches of threads are no anomalies: graph shows them, report and cores count them.",
      "With --fail-on the exit code is 1 if an anomaly has at least that severity."
          + " --explain says what each kind is, what probably caused it, and what to do."
    },
    footer = {
      "  retstack anomalies --explain",
      "  retstack record --image zoo-x86_64-mcount -o trace.avro -- sort",
      "  retstack anomalies trace.avro --fail-on warning",
      "  retstack anomalies trace.avro --task 0 --format csv",
      "  retstack anomalies trace.avro --each",
      "  retstack anomalies trace.avro --from 1000 --to 2000"
    })
public final class AnomaliesVerb extends ResultVerb {
  @Option(
      names = "--fail-on",
      paramLabel = "SEVERITY",
      description =
          "warning or error: the exit code is 1 if an anomaly has at least this" + " severity.")
  private Grade failOn;

  @Option(
      names = "--explain",
      description = "List every kind: definition, likely cause, what to do. No trace is read.")
  private boolean explain;

  @Mixin private GroupOption group;
  @Mixin private TaskOption task;
  @Mixin private WindowOptions window;

  @Option(names = "--by-task", description = "Count each task of each core separately.")
  private boolean byTask;

  @Option(
      names = "--each",
      description =
          "Show each anomaly that was kept, with its time and stack; the others are counted.")
  private boolean each;

  @Option(
      names = "--severity",
      paramLabel = "SEVERITY",
      defaultValue = "warning",
      description =
          "warning or error: kinds below this severity are one line each (default:"
              + " ${DEFAULT-VALUE}).")
  private Grade least;

  /** What an anomaly can be. */
  private enum Grade {
    WARNING(Severity.WARNING),
    ERROR(Severity.ERROR);

    private final Severity severity;

    Grade(Severity severity) {
      this.severity = severity;
    }
  }

  @Override
  WindowOptions window() {
    return window;
  }

  @Override
  boolean explains() {
    if (explain) {
      for (AnomalyKind kind : AnomalyKind.values()) {
        out().printf("%s (%s)%n  %s%n", kind, kind.severity(), kind.definition());
        out().printf("  likely: %s%n  to do: %s%n", kind.cause(), kind.cure());
      }
    }
    return explain;
  }

  @Override
  int show(GraphState state, Format shape) throws IOException {
    AnomalySum.Query query = new AnomalySum.Query("", "", task.choice(), least.severity, rows());
    List<AnomalySum> rows = ReportBuilder.of(state).anomalies(query);
    task.require(rows.stream().anyMatch(row -> row.kind() != AnomalyKind.CUT_TRACE), state);
    Output.write(out(), shape, AnomaliesView.of(rows));
    return gate(rows.stream().map(AnomalySum::kind).toList());
  }

  private Grouping rows() {
    return each ? Grouping.EACH : byTask ? Grouping.BY_TASK : group.rows();
  }

  @Override
  Map<String, String> parameters() {
    Map<String, String> parameters = new HashMap<>(task.parameters());
    parameters.putAll(window.parameters());
    parameters.put("severity", least.name().toLowerCase(Locale.ROOT));
    parameters.putAll(GroupOption.parameters(rows()));
    return parameters;
  }

  @Override
  int live() throws IOException, InterruptedException {
    super.live();
    if (failOn == null) {
      return ExitCode.OK;
    }
    List<AnomalyKind> kinds = new ArrayList<>();
    for (JsonNode row : LiveOptions.read(ask(Format.JSON))) {
      kinds.add(AnomalyKind.valueOf(row.get("kind").asText()));
    }
    return gate(kinds);
  }

  private int gate(List<AnomalyKind> kinds) {
    boolean grave =
        failOn != null
            && kinds.stream().anyMatch(kind -> kind.severity().compareTo(failOn.severity) >= 0);
    return grave ? ExitCode.FINDINGS : ExitCode.OK;
  }

  @Override
  GraphLimits limits() {
    return GraphLimits.DEFAULT.withTreeCallsPerCore(0); // the tree is not shown
  }

  @Override
  String resource() {
    return "anomalies";
  }
}
