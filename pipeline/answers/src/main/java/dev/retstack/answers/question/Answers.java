package dev.retstack.answers.question;

import dev.retstack.answers.export.GraphView;
import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.Page;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Rendering;
import dev.retstack.answers.view.AnomaliesView;
import dev.retstack.answers.view.CoresView;
import dev.retstack.answers.view.DurationsView;
import dev.retstack.answers.view.HistoryView;
import dev.retstack.answers.view.HitsView;
import dev.retstack.answers.view.OpenCallsView;
import dev.retstack.answers.view.PartsView;
import dev.retstack.answers.view.ReportView;
import dev.retstack.answers.view.StacksView;
import dev.retstack.answers.view.TimelineView;
import dev.retstack.answers.view.TopView;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.OpenCallRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.stacks.StackReport;
import dev.retstack.graph.top.Top;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.graph.top.TopSort;
import dev.retstack.schema.Node;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Turns a view and the parameters of a request into the text of an answer. */
final class Answers {
  /** Rows of {@code /top}, unless asked for otherwise. */
  private static final int TOP_ROWS = 20;

  private Answers() {}

  static Answer report(View view, Map<String, String> parameters) {
    return answer(
        ReportView.ofJob(reported(view, parameters), view.forgotten(), view.coverage()),
        parameters);
  }

  private static Report reported(View view, Map<String, String> parameters) {
    return view.report(unit(parameters), summed(parameters)).by(rows(parameters));
  }

  private static Grouping rows(Map<String, String> parameters) {
    return Grouping.of(parameters.getOrDefault("rows", "groups"));
  }

  static Answer top(QuerySource.Totals totals, Map<String, String> parameters) {
    int most = number(parameters, "limit", TOP_ROWS);
    TopSort sort =
        TopSort.valueOf(parameters.getOrDefault("sort", "calls").toUpperCase(Locale.ROOT));
    TopBuilder builder = totals.totals().summed(summed(parameters));
    Top top = builder.build(unit(parameters), sort, rows(parameters), most);
    return answer(TopView.of(top, totals.states(), most, totals.coverage()), parameters);
  }

  static Answer stats(View view, Map<String, String> parameters) {
    return answer(
        ReportView.stats(
            view.report(unit(parameters), summed(parameters)),
            view.partitions(),
            view.forgotten(),
            view.coverage()),
        parameters);
  }

  static Answer graph(View view, Map<String, String> parameters) {
    int depth = number(parameters, "depth", Integer.MAX_VALUE);
    Page<CallTree> page = Page.of(chosen(view, parameters), "trees", parameters);
    long from = time(parameters, "from", 0);
    long to = time(parameters, "to", Long.MAX_VALUE);
    GraphView.Found found =
        tree ->
            view.anomalies(new CoreKey(tree.session(), tree.core())).stream()
                .filter(row -> row.time() >= from && row.time() <= to)
                .toList();
    Rendering trees = GraphView.of(page.rows(), found, depth, view.coverage().cut());
    return answer(view.coverage().ahead(trees), page, parameters);
  }

  static Answer stacks(View view, Map<String, String> parameters) {
    StackReport found =
        view.stacks(
            core ->
                matches(parameters, "core", core.key().core())
                    && matches(parameters, "session", core.key().session()),
            unit(parameters),
            task(parameters),
            StackNode.Apart.valueOf(
                parameters.getOrDefault("apart", "none").toUpperCase(Locale.ROOT)),
            summed(parameters));
    Optional<String> function = Optional.ofNullable(parameters.get("function"));
    StackNode all = found.all();
    StackNode outermost = function.map(all::callees).orElse(all);
    Optional<StackNode> top = outermost.at(place(parameters.getOrDefault("in", "0")));
    int most = number(parameters, "limit", StacksView.NODES);
    return answer(
        StacksView.of(found, top, function.map(all::callers), most, view.coverage()), parameters);
  }

  private static long place(String in) {
    try {
      return Long.parseUnsignedLong(in, 16);
    } catch (NumberFormatException e) {
      throw new BadRequestException(
          "in=" + in + " is no place of a stack", "give the in of a row [left out]");
    }
  }

  static Answer durations(View view, Map<String, String> parameters) {
    ReportBuilder.Trees trees = chosen(view, parameters);
    String function = parameters.getOrDefault("function", "");
    return answer(
        DurationsView.of(
            trees, unit(parameters), function, summed(parameters), Optional.of(view.coverage())),
        parameters);
  }

  static Answer edges(View view, Map<String, String> parameters) {
    Report report = reported(view, parameters);
    Page<EdgeRow> page = Page.of(report.edges(), "edges", parameters);
    return answer(ReportView.edges(page.rows(), report, view.coverage()), page, parameters);
  }

  static Answer openCalls(View view, Map<String, String> parameters) {
    Page<OpenCallRow> page =
        Page.of(
            chosen(view, parameters).stream().flatMap(tree -> OpenCallRow.of(tree).stream()),
            "open calls",
            parameters);
    return answer(
        OpenCallsView.of(page.rows(), view.open(), Optional.of(view.coverage())), page, parameters);
  }

  static Answer sessions(QuerySource.Cores cores, Map<String, String> parameters) {
    Page<CoresView.Sum> page =
        Page.of(CoresView.bySession(cores.cores(), cores.coverage()), "sessions", parameters);
    return answer(CoresView.sessions(page.rows(), cores.coverage()), page, parameters);
  }

  static Answer completeness(QuerySource.Cores cores, Map<String, String> parameters) {
    Page<CoreProgress> page = Page.of(cores.cores(), "cores", parameters);
    return answer(
        CoresView.completeness(
            cores.cores(), page.rows(), cores.forgotten(), cores.refused(), cores.coverage()),
        page,
        parameters);
  }

  static Answer anomalies(View view, Map<String, String> parameters) {
    AnomalySum.Query query =
        new AnomalySum.Query(
            parameters.getOrDefault("core", ""),
            parameters.getOrDefault("kind", ""),
            task(parameters),
            Severity.valueOf(
                parameters.getOrDefault("severity", "warning").toUpperCase(Locale.ROOT)),
            rows(parameters));
    List<AnomalySum> found = view.anomalies(query);
    Page<AnomalySum> page = Page.of(found, "anomalies", parameters);
    Rendering rows = AnomaliesView.of(page.rows());
    return answer(view.coverage().ahead(rows), page, parameters);
  }

  static Answer cores(QuerySource.Cores cores, Map<String, String> parameters) {
    Page<CoreProgress> page = Page.of(cores.cores(), "cores", parameters);
    return answer(
        CoresView.cores(page.rows(), cores.coverage(), byColumns(parameters)), page, parameters);
  }

  static Answer parts(
      QuerySource.Cores cores,
      List<Node> running,
      Map<String, String> unreachable,
      Map<String, String> parameters) {
    return answer(PartsView.of(running, unreachable, cores.coverage(), cores.cores()), parameters);
  }

  static Answer history(QuerySource.Past past, int partitions, Map<String, String> parameters) {
    return answer(
        HistoryView.of(past.slots(), past.members(), past.missing(), partitions), parameters);
  }

  static Format format(Map<String, String> parameters) {
    String name = parameters.getOrDefault("format", "json");
    return Arrays.stream(Format.values())
        .filter(format -> format.name().toLowerCase(Locale.ROOT).equals(name))
        .findFirst()
        .orElseThrow(
            () -> new BadRequestException("unknown format " + name, "use json, csv or text"));
  }

  /** The trees of the cores and tasks that are asked for, with the calls of the time. */
  private static ReportBuilder.Trees chosen(View view, Map<String, String> parameters) {
    TaskChoice task = task(parameters);
    long from = time(parameters, "from", 0);
    long to = time(parameters, "to", Long.MAX_VALUE);
    boolean whole = from == 0 && to == Long.MAX_VALUE;
    ReportBuilder.Trees chosen =
        view.trees(
            core ->
                matches(parameters, "core", core.key().core())
                    && matches(parameters, "session", core.key().session()),
            tree -> task.has(tree.task(), tree.taskName()),
            tree -> whole ? tree : tree.within(from, to));
    if (chosen.isEmpty() && parameters.containsKey("core")) {
      throw new BadRequestException(
          404,
          "no core " + parameters.get("core") + " in the partitions that answered",
          "GET /cores lists the known ones");
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

  private static boolean summed(Map<String, String> parameters) {
    return parameters.getOrDefault("sessions", "").equals("sum");
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

  static Answer timeline(QuerySource.Drawn drawn, Map<String, String> parameters) {
    Document shown = TimelineView.of(drawn.cores(), byColumns(parameters));
    Rendering behind = CutOff.ahead(drawn.coverage().cut(), shown);
    return answer(drawn.coverage().ahead(behind), parameters);
  }

  static Answer hits(QuerySource.Searched searched, Map<String, String> parameters) {
    Document shown = HitsView.of(searched.found(), byColumns(parameters));
    Rendering behind = CutOff.ahead(searched.coverage().cut(), shown);
    return answer(searched.coverage().ahead(behind), parameters);
  }

  private static boolean byColumns(Map<String, String> parameters) {
    return parameters.getOrDefault("as", "").equals("columns");
  }

  static int number(Map<String, String> parameters, String name, int otherwise) {
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

  private static Answer answer(Rendering view, Map<String, String> parameters) {
    return new Answer(view, format(parameters), Optional.empty());
  }

  private static Answer answer(Rendering view, Page<?> page, Map<String, String> parameters) {
    return new Answer(view, format(parameters), Optional.of(page));
  }
}
