package dev.retstack.service.export;

import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.StatRow;
import java.io.IOException;
import java.util.List;

/** Tables of the report as RFC 4180 text, with the field names of {@link ReportJson}. */
public final class ReportCsv {
  private ReportCsv() {}

  /** The function table. */
  public static void write(Report report, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line("name", "address", "image", "isa", "calls", "total", "self", "min", "max", "avg");
    for (FunctionRow row : report.functions()) {
      csv.line(
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
    }
  }

  /** The call edges. */
  public static void edges(Report report, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line("caller", "callee", "calls", "total");
    for (EdgeRow row : report.edges()) {
      csv.line(row.caller(), row.callee(), row.calls(), row.total());
    }
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
