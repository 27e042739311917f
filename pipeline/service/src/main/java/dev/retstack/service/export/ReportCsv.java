package dev.retstack.service.export;

import dev.retstack.graph.report.ContextRow;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.StatRow;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/** Tables of the report as RFC 4180 text, with the field names of {@link ReportJson}. */
public final class ReportCsv {
  private ReportCsv() {}

  private static final List<String> FUNCTION =
      List.of("name", "address", "image", "isa", "calls", "total", "self", "min", "max", "avg");

  private static final List<String> OF_TASKS = List.of("core", "task", "taskName", "interrupt");

  /** The function table; where the report is by task, one for each, with columns that name it. */
  public static void write(Report report, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    if (report.byTask().isEmpty()) {
      functions(report.functions(), out);
      return;
    }
    csv.line(joined(FUNCTION, OF_TASKS));
    for (ContextRow of : report.byTask()) {
      functions(of.functions(), columns(of), csv);
    }
  }

  /** A table of functions. */
  static void functions(List<FunctionRow> rows, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(FUNCTION.toArray());
    functions(rows, List.of(), csv);
  }

  private static void functions(List<FunctionRow> rows, List<?> more, Csv csv) throws IOException {
    for (FunctionRow row : rows) {
      List<?> fields =
          List.of(
              row.name(),
              Units.hex(row.address()),
              row.image(),
              row.isa(),
              row.calls(),
              row.total(),
              row.self(),
              row.min(),
              row.max(),
              row.avg());
      csv.line(joined(fields, more));
    }
  }

  /** The call edges; where the report is by task, those of each, with columns that name it. */
  public static void edges(Report report, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    List<String> head = List.of("caller", "callee", "calls", "total");
    if (report.byTask().isEmpty()) {
      csv.line(head.toArray());
      edges(report.edges(), List.of(), csv);
      return;
    }
    csv.line(joined(head, OF_TASKS));
    for (ContextRow of : report.byTask()) {
      edges(of.edges(), columns(of), csv);
    }
  }

  private static void edges(List<EdgeRow> rows, List<?> more, Csv csv) throws IOException {
    for (EdgeRow row : rows) {
      csv.line(joined(List.of(row.caller(), row.callee(), row.calls(), row.total()), more));
    }
  }

  /** Core, task, name; in the column of interrupts stands "any" for those together. */
  private static List<?> columns(ContextRow of) {
    boolean task = of.context().isTask();
    return List.of(
        of.context().core().core(),
        task ? TaskText.id(of.context().task()) : "",
        of.name(),
        of.context().isInterrupts() ? "any" : "");
  }

  private static Object[] joined(List<?> fields, List<?> more) {
    return Stream.concat(fields.stream(), more.stream()).toArray();
  }

  /** The stats. */
  public static void stats(List<StatRow> rows, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line("name", "severity", "source", "count");
    for (StatRow row : rows) {
      csv.line(row.name(), row.severity(), row.source(), row.count());
    }
  }
}
