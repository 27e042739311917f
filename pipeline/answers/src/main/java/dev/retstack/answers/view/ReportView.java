package dev.retstack.answers.view;

import dev.retstack.answers.export.LossText;
import dev.retstack.answers.export.TaskText;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Table.Hex;
import dev.retstack.answers.table.Table.Percent;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.report.ContextRow;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.InterruptRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.report.SystemCallRow;
import dev.retstack.graph.report.TaskRow;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.SignalContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The report and its parts: functions, edges, stats. JSON is a contract kept stable: {@code {unit,
 * records, lost, untraced, completeness, resultHash, functions, edges, stats}} and, where there are
 * any, {@code notCounted} (time that is in no total), {@code onlyTask}, {@code incomplete} (cores
 * that miss records or ran calls untraced), {@code byTask}, {@code systemCalls}, {@code tasks},
 * {@code interrupts}. The fields of a row are the columns here. A row of a program ({@link
 * dev.retstack.graph.input.Grouping}) has {@code address}, {@code image} and {@code isa} only where
 * all its images have the same.
 */
public final class ReportView {
  /** Losses shown as text; all of them are in the JSON. */
  private static final int LOSSES_MAX = 20;

  private static final Table<FunctionRow> COLUMNS =
      new Table<FunctionRow>()
          .text("name", FunctionRow::name)
          .text("address", row -> row.images() == 1 ? new Hex(row.address()) : null)
          .text("image", row -> known(row.image()))
          .text("isa", row -> known(row.isa()))
          .text("program", row -> known(row.program()))
          .number("images", FunctionRow::images)
          .number("isas", FunctionRow::isas)
          .number("calls", FunctionRow::calls)
          .number("total", FunctionRow::total)
          .number("wall", FunctionRow::wall)
          .number("self", FunctionRow::self)
          .number("min", FunctionRow::min)
          .number("max", FunctionRow::max)
          .number("avg", FunctionRow::avg)
          .onlyTextNumber("shortAvg", row -> String.format(Locale.ROOT, "%.1f", row.avg()))
          .onlyText("ofIsa", row -> isa(row.isa(), row.isas()))
          .onlyText("ofImage", row -> image(row.image(), row.program(), row.images()));

  private static final String[] TIMES = {
    "SELF", "AVG=shortAvg", "MIN", "MAX", "FUNCTION=name", "ISA=ofIsa", "IMAGE=ofImage"
  };

  public static final Table<FunctionRow> FUNCTIONS = COLUMNS.headed("CALLS", "TOTAL").headed(TIMES);

  /** Where tasks took turns, text has the time from begin to end beside the total. */
  private static final Table<FunctionRow> WITH_WALL =
      COLUMNS.headed("CALLS", "TOTAL", "WALL").headed(TIMES);

  private static final Table<FunctionRow> WITH_SOURCE = withSource(FUNCTIONS);

  static final Table<EdgeRow> EDGES =
      new Table<EdgeRow>()
          .text("caller", EdgeRow::caller)
          .text("callee", EdgeRow::callee)
          .text("image", row -> known(row.image()))
          .text("program", row -> known(row.program()))
          .text("callerImage", row -> other(row.callerImage(), row.image()))
          .text("callerProgram", row -> other(row.callerProgram(), row.program()))
          .number("images", EdgeRow::images)
          .number("calls", EdgeRow::calls)
          .number("total", EdgeRow::total);

  private static final Table<EdgeRow> EDGES_AS_TEXT =
      EDGES
          .onlyTextNumber("self", EdgeRow::self)
          .onlyText("ofIsa", row -> isa(row.isa(), row.isas()))
          .onlyText("ofImage", row -> image(row.image(), row.program(), row.images()))
          .headed("CALLS", "TOTAL", "SELF", "CALLER", "CALLEE", "ISA=ofIsa", "IMAGE=ofImage");

  static final Table<StatRow> STATS =
      new Table<StatRow>()
          .text("name", StatRow::name)
          .text("severity", StatRow::severity)
          .text("source", StatRow::source)
          .number("count", StatRow::count)
          .onlyText("sentence", StatRow::sentence)
          .headed("STAT=name", "SEVERITY", "SOURCE", "COUNT", "MEANING=sentence");

  private static final Table<SystemCallRow> SYSTEM_CALLS =
      new Table<SystemCallRow>()
          .text("name", SystemCallRow::name)
          .text("isa", SystemCallRow::isa)
          .number("calls", SystemCallRow::calls)
          .number("errors", SystemCallRow::errors)
          .number("total", SystemCallRow::total)
          .headed("CALLS", "ERRORS", "TOTAL", "SYSTEM CALL=name", "ISA");

  /** Where records are missing, and when that was: see {@link Loss}. */
  static final Table<Loss> LOSSES =
      new Table<Loss>()
          .text("kind", Loss::kind)
          .number("records", Loss::records)
          .number("fromChunk", Loss::fromChunk)
          .number("toChunk", Loss::toChunk)
          .number("record", Loss::record)
          .number("after", Loss::after)
          .number("until", Loss::until);

  private static final Table<CoreRow> INCOMPLETE =
      new Table<CoreRow>()
          .text("core", CoreRow::core)
          .text("session", CoreRow::session)
          .text("task", _ -> new Hex(0))
          .number("records", CoreRow::records)
          .number("lost", CoreRow::lost)
          .number("untraced", CoreRow::untraced)
          .number("completeness", CoreRow::completeness)
          .rows("losses", LOSSES, CoreRow::losses);

  /** A line that says what of a core is missing. */
  private record Missing(
      String what, String name, CoreRow core, String where, String after, String until) {}

  private static final Table<Missing> MISSING =
      new Table<Missing>()
          .number("missing", Missing::what)
          .text("core", Missing::name)
          .text("where", Missing::where)
          .number("after", Missing::after)
          .number("until", Missing::until)
          .number("complete", row -> new Percent(row.core().completeness()));

  /** A task of a core, which has that name in text. */
  private record OfCore<T>(CoreRow core, String name, T row) {}

  private static final Table<OfCore<TaskRow>> TASKS =
      new Table<OfCore<TaskRow>>()
          .text("core", row -> row.core().core())
          .text("session", row -> row.core().session())
          .and(
              new Table<TaskRow>()
                  .text("task", row -> new Table.TaskId(row.id()))
                  .number("instance", TaskRow::instance)
                  .text("name", TaskRow::name)
                  .number("calls", TaskRow::entries)
                  .number("open", TaskRow::open)
                  .number("unwound", TaskRow::unwound)
                  .number("ended", TaskRow::ended)
                  .number("truncated", TaskRow::truncated)
                  .number("ran", TaskRow::ran)
                  .number("switches", TaskRow::switches)
                  .text("over", TaskRow::over)
                  .number("records", TaskRow::records)
                  .number("mayMiss", TaskRow::mayMiss)
                  .number("mayBeUntraced", TaskRow::mayBeUntraced)
                  .number("completeness", row -> new Percent(row.completeness()))
                  .onlyText("state", row -> row.over() ? "over" : "live")
                  .onlyJson(
                      "losses",
                      row ->
                          row.losses().isEmpty() ? null : new Table.Rows<>(LOSSES, row.losses())),
              OfCore::row)
          .onlyText("coreName", OfCore::name)
          .headed(
              "CALLS",
              "OPEN",
              "UNWOUND",
              "ENDED",
              "RAN",
              "SWITCHES",
              "TASK=name",
              "STATE",
              "CORE=coreName",
              "COMPLETE=completeness");

  private static final Table<OfCore<InterruptRow>> INTERRUPTS =
      new Table<OfCore<InterruptRow>>()
          .text("core", row -> row.core().core())
          .text("session", row -> row.core().session())
          .and(
              new Table<InterruptRow>()
                  .number("number", InterruptRow::number)
                  .text("name", row -> SignalContext.name(row.number()))
                  .number("count", InterruptRow::count)
                  .number("finished", InterruptRow::finished)
                  .number("total", InterruptRow::total)
                  .number("max", InterruptRow::max),
              OfCore::row)
          .onlyText("coreName", OfCore::name)
          .headed("COUNT", "TOTAL", "MAX", "INTERRUPT=name", "CORE=coreName");

  private static final Table<ContextRow> BY_TASK =
      new Table<ContextRow>()
          .text("core", row -> row.context().core().core())
          .text("session", row -> row.context().core().session())
          .text("task", ReportView::taskId)
          .number("instance", row -> row.context().isTask() ? row.context().instance() : null)
          .text("taskName", ContextRow::name)
          .text("interrupts", row -> row.context().isInterrupts())
          .rows("functions", WITH_SOURCE, ContextRow::functions)
          .rows("edges", EDGES, ContextRow::edges);

  /** A row of a task's own table. */
  private record OfTask<T>(T row, ContextRow task) {}

  /** The columns that name the task; in that of interrupts stands "any" for those together. */
  private static final Table<ContextRow> TASK =
      new Table<ContextRow>()
          .text("core", row -> row.context().core().core())
          .text("task", ReportView::taskId)
          .text("taskName", ContextRow::name)
          .text("interrupt", row -> row.context().isInterrupts() ? "any" : "");

  private static final Table<StateCopy> POSITIONS =
      new Table<StateCopy>()
          .number("partition", StateCopy::partition)
          .number("epoch", StateCopy::epoch)
          .number("nextOffset", StateCopy::nextOffset)
          .number("checkpointedOffset", StateCopy::checkpointedOffset)
          .number("skippedOffsets", StateCopy::skippedOffsets);

  private ReportView() {}

  private static Table<FunctionRow> withSource(Table<FunctionRow> functions) {
    return functions
        .text("source", row -> row.source().isKnown() ? row.source().text() : null)
        .headed("SOURCE");
  }

  private static boolean hasWall(Report report) {
    return report.functions().stream().anyMatch(row -> row.wall() != row.total());
  }

  private static String other(String text, String than) {
    return text.equals(than) ? null : known(text);
  }

  private static String known(String text) {
    return text.isEmpty() ? null : text;
  }

  private static String isa(String isa, int isas) {
    return isa.isEmpty() ? Count.of(isas, "ISA") : isa;
  }

  private static String image(String image, String program, int images) {
    return image.isEmpty() ? program + ", " + Count.of(images, "image") : image;
  }

  /**
   * The whole report.
   *
   * @param most functions as text at most; what is left out is counted
   */
  public static Document of(Report report, int most) {
    return of(report, most, false, new Document());
  }

  /** The report, where text shows the source lines of functions too, as JSON and CSV do. */
  public static Document withSources(Report report, int most) {
    return of(report, most, true, new Document());
  }

  /** The report of a job: which partitions it covers and what is left out of it come first. */
  public static Document ofJob(Report report, ForgottenSessions forgotten, Coverage coverage) {
    Document document = new Document();
    coverage.addTo(document);
    ForgottenView.addTo(document, forgotten);
    return of(report.partial(!coverage.complete()), Integer.MAX_VALUE, false, document);
  }

  private static Document of(Report report, int most, boolean withSource, Document document) {
    document.text(lines -> text(report, most, withSource, lines));
    json(report, document);
    return csv(
        bySession(WITH_SOURCE, FunctionRow::session, report),
        report.functions(),
        report,
        ContextRow::functions,
        document);
  }

  /**
   * The call edges as text and CSV; the JSON is the whole report.
   *
   * @param most edges as text at most; what is left out is counted
   */
  public static Document edges(Report report, int most) {
    Document document =
        new Document()
            .text(
                lines ->
                    tables(
                        report,
                        bySession(EDGES_AS_TEXT, EdgeRow::session, report),
                        report.edges(),
                        ContextRow::edges,
                        most,
                        "edges",
                        lines));
    json(report, document);
    return csv(
        bySession(EDGES, EdgeRow::session, report),
        report.edges(),
        report,
        ContextRow::edges,
        document);
  }

  /** Some of the edges of a job. */
  public static Document edges(List<EdgeRow> edges, Report report, Coverage coverage) {
    Document document = new Document();
    coverage.addTo(document);
    Units.fields(report.units(), document);
    Units.lines(report.units(), document);
    return document.table("edges", bySession(EDGES, EdgeRow::session, report), edges);
  }

  /** What a job dropped, lost and found, and how far each partition came. */
  public static Document stats(
      Report report, List<StateCopy> partitions, ForgottenSessions forgotten, Coverage coverage) {
    Document document = new Document();
    coverage.addTo(document);
    Report shown = report.partial(!coverage.complete());
    sums(shown, document);
    document.rows("stats", STATS, report.stats()).csv(STATS, report.stats());
    ForgottenView.addTo(document, forgotten);
    document.text(lines -> text(shown, 0, false, lines));
    return document.rows("positions", POSITIONS, partitions);
  }

  private static void text(Report report, int most, boolean withSource, Document document) {
    Table<FunctionRow> columns = hasWall(report) ? WITH_WALL : FUNCTIONS;
    Table<FunctionRow> functions = withSource ? withSource(columns) : columns;
    tables(
        report,
        bySession(functions, FunctionRow::session, report),
        report.functions(),
        ContextRow::functions,
        most,
        "functions",
        document);
    document.textIfAny(
        bySession(SYSTEM_CALLS, SystemCallRow::session, report), report.systemCalls());
    document.textIfAny(TASKS, tasks(report));
    document.textIfAny(INTERRUPTS, interrupts(report));
    document.textIfAny(STATS, report.stats());
  }

  private static <T> void first(
      Table<T> table, List<T> rows, int most, String what, Document document) {
    document.text(table, rows.subList(0, Math.min(most, rows.size())));
    if (rows.size() > most) {
      document.line("# and %d more %s".formatted(rows.size() - most, what));
    }
  }

  /** What is said first, then the table; where the report is by task, that of each. */
  private static <T> void tables(
      Report report,
      Table<T> table,
      List<T> all,
      Function<ContextRow, List<T>> ofTask,
      int most,
      String what,
      Document document) {
    head(report, document);
    missing(report, document);
    if (report.byTask().isEmpty()) {
      first(table, all, most, what, document);
    }
    boolean first = true;
    for (ContextRow row : report.byTask()) {
      String name = row.context().isTask() ? "task " + TaskText.behindTask(row.name()) : row.name();
      if (!first) {
        document.gap();
      }
      document.line("# core %s, %s".formatted(report.names().name(row.context().core()), name));
      first(table, ofTask.apply(row), most, what, document);
      first = false;
    }
  }

  private static void head(Report report, Document document) {
    document.line(
        "# %s of %s, %s, times in %s"
            .formatted(
                Count.of(report.records(), "record"),
                Count.of(report.cores().size(), "core"),
                Units.complete(report.lost(), report.untraced(), report.completeness()),
                Units.name(report.unit())));
    Units.lines(report.units(), document);
    if (!report.choice().isAll()) {
      document.line("# functions and edges of task %s alone".formatted(report.choice().text()));
    }
    List<String> off = report.rules().off();
    if (!off.equals(TimeRules.DEFAULT.off())) {
      String what = off.isEmpty() ? "with sleep-time" : "without " + String.join(", ", off);
      document.line("# TOTAL, AVG, MIN and MAX are %s".formatted(what));
    }
    if (hasWall(report)) {
      document.line("# WALL is from begin to end, with the time in which other tasks ran");
    }
    if (report.isBySession()) {
      document.line(
          "# each session has rows that name it: --session shows one, --sum-sessions adds them up");
    }
    document.line("# result hash %s".formatted(report.resultHash())).gap();
  }

  private static void missing(Report report, Document document) {
    SessionNames names = report.names();
    List<Missing> rows = new ArrayList<>();
    int left = 0;
    for (CoreRow core : report.cores()) {
      String name = names.name(core.core(), core.session());
      if (core.untraced() > 0) {
        rows.add(
            new Missing(
                Count.of(core.untraced(), "call"),
                name,
                core,
                "ran untraced: see the stats",
                "",
                ""));
      }
      for (Loss loss : core.losses()) {
        if (rows.size() >= LOSSES_MAX) {
          left++;
        } else {
          rows.add(
              new Missing(
                  String.valueOf(loss.records()),
                  name,
                  core,
                  LossText.place(loss),
                  String.valueOf(loss.after()),
                  String.valueOf(loss.until())));
        }
      }
    }
    if (!rows.isEmpty()) {
      document.text(MISSING, rows);
      if (left > 0) {
        document.line("# and " + Count.of(left, "more loss", "more losses"));
      }
      document.gap();
    }
  }

  private static void sums(Report report, Document document) {
    Units.fields(report.units(), document)
        .field("records", report.records())
        .field("lost", report.lost())
        .field("untraced", report.untraced())
        .field("completeness", report.completeness());
  }

  private static void json(Report report, Document document) {
    sums(report, document);
    document.field("resultHash", report.resultHash());
    if (!report.rules().off().isEmpty()) {
      document.field("notCounted", report.rules().off());
    }
    if (!report.choice().isAll()) {
      document.field("onlyTask", report.choice().text());
    }
    new OtherNames()
        .addAll(report.functions().stream().map(FunctionRow::function).toList())
        .addTo(document);
    document
        .rowsIfAny(
            "incomplete", INCOMPLETE, report.cores().stream().filter(c -> !c.isWhole()).toList())
        .rows("functions", bySession(WITH_SOURCE, FunctionRow::session, report), report.functions())
        .rows("edges", bySession(EDGES, EdgeRow::session, report), report.edges())
        .rowsIfAny("byTask", BY_TASK, report.byTask())
        .rowsIfAny(
            "systemCalls",
            bySession(SYSTEM_CALLS, SystemCallRow::session, report),
            report.systemCalls())
        .rowsIfAny("tasks", TASKS, tasks(report))
        .rowsIfAny("interrupts", INTERRUPTS, interrupts(report))
        .rows("stats", STATS, report.stats());
  }

  /** The table; where the report is by task, that of each, with columns that name it. */
  private static <T> Document csv(
      Table<T> table,
      List<T> all,
      Report report,
      Function<ContextRow, List<T>> ofTask,
      Document document) {
    if (report.byTask().isEmpty()) {
      return document.csv(table, all);
    }
    return document.csv(
        new Table<OfTask<T>>().and(table, OfTask::row).and(TASK, OfTask::task),
        report.byTask().stream()
            .flatMap(task -> ofTask.apply(task).stream().map(row -> new OfTask<>(row, task)))
            .toList());
  }

  /** The columns; where rows are those of one session of several, also which. */
  private static <T> Table<T> bySession(
      Table<T> table, Function<T, String> session, Report report) {
    return report.isBySession() ? table.last("session", session) : table;
  }

  private static Object taskId(ContextRow row) {
    return row.context().isTask() ? new Table.TaskId(row.context().task()) : null;
  }

  private static List<OfCore<TaskRow>> tasks(Report report) {
    return report.cores().stream()
        .flatMap(
            core ->
                core.tasks().stream()
                    .filter(task -> report.choice().has(task.id(), task.name()))
                    .map(task -> new OfCore<>(core, name(report, core), task)))
        .toList();
  }

  private static List<OfCore<InterruptRow>> interrupts(Report report) {
    return report.cores().stream()
        .flatMap(
            core ->
                core.interrupts().stream().map(one -> new OfCore<>(core, name(report, core), one)))
        .toList();
  }

  private static String name(Report report, CoreRow core) {
    return report.names().name(core.core(), core.session());
  }
}
