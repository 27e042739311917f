package dev.retstack.service.query;

import dev.retstack.graph.check.Severity;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.OpenCallRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.report.Top;
import dev.retstack.graph.report.TopSort;
import dev.retstack.schema.Node;
import dev.retstack.service.export.AnomalyCsv;
import dev.retstack.service.export.AnomalyJson;
import dev.retstack.service.export.AnomalyText;
import dev.retstack.service.export.EdgeText;
import dev.retstack.service.export.ForgottenText;
import dev.retstack.service.export.GraphCsv;
import dev.retstack.service.export.GraphJson;
import dev.retstack.service.export.GraphText;
import dev.retstack.service.export.OpenCallText;
import dev.retstack.service.export.PartsText;
import dev.retstack.service.export.ProgressText;
import dev.retstack.service.export.ReportCsv;
import dev.retstack.service.export.ReportJson;
import dev.retstack.service.export.ReportText;
import dev.retstack.service.export.SumText;
import dev.retstack.service.export.TopText;
import dev.retstack.service.nodes.NodeFeed;
import dev.retstack.service.progress.CoreProgress;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Turns a view and the parameters of a request into the text of an answer. */
final class Answers {
  /** Rows of {@code /top}, unless asked for otherwise. */
  private static final int TOP_ROWS = 20;

  private Answers() {}

  private interface Renderer {
    void writeTo(StringWriter out) throws IOException;
  }

  static Answer report(View view, Map<String, String> parameters) {
    Report report = view.report(unit(parameters));
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> ReportJson.write(report, view.forgotten(), view.coverage(), out);
                case CSV -> ReportCsv.write(report, out);
                case TEXT -> {
                  view.coverage().writeMissing(out);
                  ForgottenText.text(view.forgotten(), out);
                  ReportText.write(report, out);
                }
              }
            }));
  }

  static Answer top(Job.Totals totals, Map<String, String> parameters) {
    int most = number(parameters, "limit", TOP_ROWS);
    TopSort sort =
        TopSort.valueOf(parameters.getOrDefault("sort", "calls").toUpperCase(Locale.ROOT));
    Top top = totals.totals().build(unit(parameters), sort, most);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> TopText.json(top, totals.states(), most, totals.coverage(), out);
                case CSV -> TopText.csv(top, out);
                case TEXT -> {
                  totals.coverage().writeMissing(out);
                  TopText.text(top, totals.states(), most, out);
                }
              }
            }));
  }

  static Answer stats(View view, Map<String, String> parameters) {
    Report report = view.report(unit(parameters));
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON ->
                    ProgressText.statsJson(
                        report, view.partitions(), view.forgotten(), view.coverage(), out);
                case CSV -> ReportCsv.stats(report.stats(), out);
                case TEXT -> {
                  view.coverage().writeMissing(out);
                  ForgottenText.text(view.forgotten(), out);
                  ReportText.write(report, 0, out);
                }
              }
            }));
  }

  static Answer graph(View view, Map<String, String> parameters) {
    int depth = number(parameters, "depth", Integer.MAX_VALUE);
    Page<CallTree> page = Page.of(chosen(view.trees(), parameters), "trees", parameters);
    long from = time(parameters, "from", 0);
    long to = time(parameters, "to", Long.MAX_VALUE);
    boolean whole = from == 0 && to == Long.MAX_VALUE;
    List<CallTree> trees =
        whole ? page.rows() : page.rows().stream().map(tree -> tree.within(from, to)).toList();
    List<AnomalyRow> anomalies =
        view.anomalies().stream().filter(row -> row.time() >= from && row.time() <= to).toList();
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> GraphJson.write(trees, depth, out);
                case CSV -> GraphCsv.write(trees, depth, out);
                case TEXT -> GraphText.write(trees, anomalies, depth, out);
              }
            }),
        page);
  }

  static Answer edges(View view, Map<String, String> parameters) {
    Report report = view.report(unit(parameters));
    Page<EdgeRow> page = Page.of(report.edges(), "edges", parameters);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> EdgeText.json(page.rows(), report, view.coverage(), out);
                case CSV -> EdgeText.csv(page.rows(), out);
                case TEXT -> {
                  view.coverage().writeMissing(out);
                  EdgeText.text(page.rows(), out);
                }
              }
            }),
        page);
  }

  static Answer openCalls(View view, Map<String, String> parameters) {
    List<OpenCallRow> found = OpenCallRow.of(chosen(view.trees(), parameters));
    Page<OpenCallRow> page = Page.of(found, "open calls", parameters);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON ->
                    OpenCallText.json(page.rows(), view.open(), Optional.of(view.coverage()), out);
                case CSV -> OpenCallText.csv(page.rows(), out);
                case TEXT -> {
                  view.coverage().writeMissing(out);
                  OpenCallText.text(page.rows(), view.open(), out);
                }
              }
            }),
        page);
  }

  static Answer sessions(Job.Cores cores, Map<String, String> parameters) {
    Page<SumText.Sum> page = Page.of(SumText.bySession(cores.cores()), "sessions", parameters);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> SumText.sessions(page.rows(), cores.coverage(), out);
                case CSV -> SumText.csv(SumText.By.SESSION, page.rows(), out);
                case TEXT -> {
                  cores.coverage().writeMissing(out);
                  SumText.text(SumText.By.SESSION, page.rows(), out);
                }
              }
            }),
        page);
  }

  static Answer completeness(Job.Cores cores, Map<String, String> parameters) {
    Page<CoreProgress> page = Page.of(cores.cores(), "cores", parameters);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON ->
                    SumText.completeness(
                        cores.cores(), page.rows(), cores.forgotten(), cores.coverage(), out);
                case CSV -> SumText.csv(SumText.By.CORE, SumText.byCore(page.rows()), out);
                case TEXT -> {
                  cores.coverage().writeMissing(out);
                  ForgottenText.text(cores.forgotten(), out);
                  SumText.text(SumText.By.PARTITION, SumText.byPartition(cores.cores()), out);
                  out.append('\n');
                  SumText.text(SumText.By.CORE, SumText.byCore(page.rows()), out);
                }
              }
            }),
        page);
  }

  static Answer anomalies(View view, Map<String, String> parameters) {
    AnomalySum.Query query =
        new AnomalySum.Query(
            parameters.getOrDefault("core", ""),
            parameters.getOrDefault("kind", ""),
            task(parameters),
            Severity.valueOf(
                parameters.getOrDefault("severity", "warning").toUpperCase(Locale.ROOT)),
            parameters.getOrDefault("rows", "").equalsIgnoreCase("each"),
            parameters.getOrDefault("rows", "").equalsIgnoreCase("by-task"));
    List<AnomalySum> found = view.anomalies(query);
    Page<AnomalySum> page = Page.of(found, "anomalies", parameters);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> AnomalyJson.write(page.rows(), out);
                case CSV -> AnomalyCsv.write(page.rows(), out);
                case TEXT -> AnomalyText.write(page.rows(), out);
              }
            }),
        page);
  }

  static Answer cores(Job.Cores cores, Map<String, String> parameters) {
    Page<CoreProgress> page = Page.of(cores.cores(), "cores", parameters);
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> ProgressText.json(page.rows(), cores.coverage(), out);
                case CSV -> ProgressText.csv(page.rows(), out);
                case TEXT -> {
                  cores.coverage().writeMissing(out);
                  ProgressText.text(page.rows(), out);
                }
              }
            }),
        page);
  }

  static Answer parts(
      Job.Cores cores, NodeFeed nodes, Map<String, String> states, Map<String, String> parameters) {
    List<Node> running = new ArrayList<>(List.of(nodes.self()));
    running.addAll(nodes.others());
    running.sort(Comparator.comparing(Node::getNode));
    PartsText text = new PartsText(running, states, cores.coverage(), cores.cores());
    return Answer.of(
        render(
            out -> {
              switch (format(parameters)) {
                case JSON -> text.json(out);
                case CSV -> text.csv(out);
                case TEXT -> text.text(out);
              }
            }));
  }

  static Format format(Map<String, String> parameters) {
    return Format.of(parameters.getOrDefault("format", "json"));
  }

  private static List<CallTree> chosen(List<CallTree> trees, Map<String, String> parameters) {
    TaskChoice task = task(parameters);
    List<CallTree> chosen =
        trees.stream()
            .filter(tree -> matches(parameters, "core", tree.core()))
            .filter(tree -> matches(parameters, "session", tree.session()))
            .filter(tree -> task.has(tree.task(), tree.taskName()))
            .toList();
    if (chosen.isEmpty() && parameters.containsKey("core")) {
      throw new BadRequestException(
          404,
          "no core " + parameters.get("core") + " in the partitions that answered",
          "GET /cores lists what is known");
    }
    return chosen;
  }

  /** The tasks that the parameters ask for. */
  static TaskChoice task(Map<String, String> parameters) {
    return new TaskChoice(parameters.getOrDefault("task", ""));
  }

  private static boolean matches(Map<String, String> parameters, String name, String value) {
    return !parameters.containsKey(name) || parameters.get(name).equals(value);
  }

  private static Optional<ClockUnit> unit(Map<String, String> parameters) {
    String name = parameters.get("unit");
    if (name == null) {
      return Optional.empty();
    }
    return Optional.of(
        Arrays.stream(ClockUnit.values())
            .filter(unit -> unit.name().equalsIgnoreCase(name))
            .findFirst()
            .orElseThrow(
                () ->
                    new BadRequestException(
                        "unknown unit " + name, "use instructions or nanoseconds")));
  }

  private static int number(Map<String, String> parameters, String name, int otherwise) {
    String text = parameters.get(name);
    if (text == null) {
      return otherwise;
    }
    return Integer.parseInt(text); // checked before
  }

  private static long time(Map<String, String> parameters, String name, long otherwise) {
    String text = parameters.get(name);
    return text == null ? otherwise : Long.parseLong(text); // checked before
  }

  private static String render(Renderer renderer) {
    StringWriter out = new StringWriter();
    try {
      renderer.writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return out.toString();
  }
}
