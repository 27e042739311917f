package dev.retstack.cli.verb;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.Format;
import dev.retstack.cli.option.Tables;
import dev.retstack.cli.option.TaskOption;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.service.export.AnomalyCsv;
import dev.retstack.service.export.AnomalyJson;
import dev.retstack.service.export.AnomalyText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack anomalies}: what is wrong, odd or missing; a gate for CI. */
@Command(
    name = "anomalies",
    description = {
      "Show every anomaly: corrupted frames, return addresses that changed, unwound and tail"
          + " calls,",
      "losses. With --fail-on the exit code is 1 where one is at least that grave. --explain tells",
      "what each kind is, what is likely to have made it, and what to do."
    },
    footer = {
      "  retstack anomalies --explain",
      "  retstack record --image zoo-x86_64-mcount -o trace.avro -- sort",
      "  retstack anomalies trace.avro --fail-on error",
      "  retstack anomalies trace.avro --task 0 --format csv"
    })
public final class AnomaliesVerb extends ResultVerb {
  @Option(
      names = "--fail-on",
      paramLabel = "SEVERITY",
      description = "info, warning or error: exit with 1 where an anomaly is at least that grave.")
  private Severity failOn;

  @Option(
      names = "--explain",
      description = "List every kind: definition, likely cause, what to do. No trace is read.")
  private boolean explain;

  @Mixin private TaskOption task;

  @Option(names = "--by-task", description = "Task by task, those of one together.")
  private boolean byTask;

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
    List<AnomalyRow> chosen =
        state.anomalies().stream().filter(r -> task.choice().has(r.task(), r.taskName())).toList();
    task.require(!chosen.isEmpty(), state);
    List<AnomalyRow> rows = byTask ? byTask(chosen) : chosen;
    Output.write(
        out(),
        out -> {
          switch (shape) {
            case TEXT -> AnomalyText.write(rows, out);
            case JSON -> AnomalyJson.write(rows, out);
            case CSV -> AnomalyCsv.write(rows, out);
          }
        });
    return gate(rows.stream().map(AnomalyRow::kind).toList());
  }

  private static List<AnomalyRow> byTask(List<AnomalyRow> rows) {
    Map<List<Object>, List<AnomalyRow>> tasks = new LinkedHashMap<>();
    for (AnomalyRow row : rows) {
      List<Object> of = List.of(row.session(), row.core(), row.task(), row.instance());
      tasks.computeIfAbsent(of, _ -> new ArrayList<>()).add(row);
    }
    return tasks.values().stream().flatMap(List::stream).toList();
  }

  @Override
  Map<String, String> parameters() {
    return task.parameters();
  }

  @Override
  int live() throws IOException, InterruptedException {
    if (byTask) {
      throw usage("--by-task: a pipeline answers in the order of time; sort its CSV");
    }
    super.live();
    if (failOn == null) {
      return ExitCode.OK;
    }
    List<AnomalyKind> kinds = new ArrayList<>();
    for (JsonNode row : Tables.JSON.readTree(ask(Format.JSON))) {
      kinds.add(AnomalyKind.valueOf(row.get("kind").asText()));
    }
    return gate(kinds);
  }

  private int gate(List<AnomalyKind> kinds) {
    boolean grave =
        failOn != null && kinds.stream().anyMatch(kind -> kind.severity().compareTo(failOn) >= 0);
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
