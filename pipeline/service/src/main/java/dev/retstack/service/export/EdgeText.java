package dev.retstack.service.export;

import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.Report;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/** Some of the call edges of a report, in every form. */
public final class EdgeText {
  private EdgeText() {}

  /** {@code {partitions, parts, unit, edges:[{caller, callee, calls, total}]}}. */
  public static void json(List<EdgeRow> edges, Report report, Coverage coverage, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          coverage.writeTo(json);
          json.writeStringField("unit", report.unit().name());
          json.writeArrayFieldStart("edges");
          for (EdgeRow row : edges) {
            ReportJson.edge(row, json);
          }
          json.writeEndArray();
          json.writeEndObject();
        },
        out);
  }

  /** The same fields as RFC 4180 text. */
  public static void csv(List<EdgeRow> edges, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line("caller", "callee", "calls", "total");
    for (EdgeRow row : edges) {
      csv.line(row.caller(), row.callee(), row.calls(), row.total());
    }
  }

  /** The same fields as an aligned table. */
  public static void text(List<EdgeRow> edges, Appendable out) throws IOException {
    TextTable table = new TextTable("CALLER", "CALLEE", "CALLS>", "TOTAL>");
    for (EdgeRow row : edges) {
      table.row(
          row.caller(), row.callee(), String.valueOf(row.calls()), String.valueOf(row.total()));
    }
    table.write(out);
  }
}
