package dev.retstack.service.export;

import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.report.ContextRow;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.report.SystemCallRow;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** The function report as an aligned table, with what is missing said first. */
public final class ReportText {
  /** Losses shown; all of them are in the report as JSON. */
  private static final int LOSSES_MAX = 20;

  private ReportText() {}

  /** Writes the whole report. */
  public static void write(Report report, Appendable out) throws IOException {
    write(report, Integer.MAX_VALUE, out);
  }

  /**
   * Writes the report.
   *
   * @param maxFunctions rows of the function table at most; what is left out is counted
   */
  public static void write(Report report, int maxFunctions, Appendable out) throws IOException {
    head(report, out);
    losses(report.cores(), out);
    if (report.byTask().isEmpty()) {
      functions(report.functions(), maxFunctions, out);
    } else {
      byTask(report, row -> functions(row.functions(), maxFunctions, out), out);
    }
    systemCalls(report.systemCalls(), out);
    ContextText.write(report, out);
    stats(report.stats(), out);
  }

  /**
   * Writes the call edges.
   *
   * @param maxEdges rows of a table at most; what is left out is counted
   */
  public static void edges(Report report, int maxEdges, Appendable out) throws IOException {
    head(report, out);
    losses(report.cores(), out);
    if (report.byTask().isEmpty()) {
      edges(report.edges(), maxEdges, out);
    } else {
      byTask(report, row -> edges(row.edges(), maxEdges, out), out);
    }
  }

  private interface Table {
    void write(ContextRow row) throws IOException;
  }

  private static void byTask(Report report, Table table, Appendable out) throws IOException {
    boolean first = true;
    for (ContextRow row : report.byTask()) {
      String name = row.context().isTask() ? "task " + TaskText.behindTask(row.name()) : row.name();
      out.append(first ? "" : "\n");
      Line.write(out, "# core %s, %s".formatted(row.context().core().core(), name));
      table.write(row);
      first = false;
    }
  }

  private static void head(Report report, Appendable out) throws IOException {
    Line.write(
        out,
        "# %d records of %d core%s, %s, times in %s"
            .formatted(
                report.records(),
                report.cores().size(),
                report.cores().size() == 1 ? "" : "s",
                Units.complete(report.lost(), report.untraced(), report.completeness()),
                Units.name(report.unit())));
    if (!report.choice().isAll()) {
      Line.write(out, "# functions and edges of task %s alone".formatted(report.choice().text()));
    }
    if (!report.rules().off().isEmpty()) {
      Line.write(
          out,
          "# not in TOTAL, AVG, MIN and MAX: %s"
              .formatted(String.join(", ", report.rules().off())));
    }
    Line.write(out, "# result hash %s".formatted(report.resultHash()));
    out.append('\n');
  }

  private static void losses(List<CoreRow> cores, Appendable out) throws IOException {
    TextTable table = new TextTable("MISSING>", "CORE", "WHERE", "AFTER>", "UNTIL>", "COMPLETE>");
    int rows = 0;
    int left = 0;
    for (CoreRow core : cores) {
      if (core.untraced() > 0) {
        rows++;
        table.row(
            core.untraced() + " calls",
            core.core(),
            "ran untraced: see the stats",
            "",
            "",
            Units.percent(core.completeness()));
      }
      for (Loss loss : core.losses()) {
        if (rows == LOSSES_MAX) {
          left++;
          continue;
        }
        rows++;
        table.row(
            String.valueOf(loss.records()),
            core.core(),
            LossText.place(loss),
            String.valueOf(loss.after()),
            String.valueOf(loss.until()),
            Units.percent(core.completeness()));
      }
    }
    if (rows > 0) {
      table.write(out);
      if (left > 0) {
        Line.write(out, "# and %d more losses".formatted(left));
      }
      out.append('\n');
    }
  }

  private static void functions(List<FunctionRow> rows, int maxFunctions, Appendable out)
      throws IOException {
    TextTable table =
        new TextTable(
            "CALLS>", "TOTAL>", "SELF>", "AVG>", "MIN>", "MAX>", "FUNCTION", "ISA", "IMAGE");
    for (FunctionRow row : rows.subList(0, Math.min(maxFunctions, rows.size()))) {
      table.row(
          String.valueOf(row.calls()),
          String.valueOf(row.total()),
          String.valueOf(row.self()),
          String.format(Locale.ROOT, "%.1f", row.avg()),
          String.valueOf(row.min()),
          String.valueOf(row.max()),
          row.name(),
          row.isa(),
          row.image());
    }
    table.write(out);
    if (rows.size() > maxFunctions) {
      Line.write(out, "# and %d more functions".formatted(rows.size() - maxFunctions));
    }
  }

  private static void edges(List<EdgeRow> rows, int maxEdges, Appendable out) throws IOException {
    TextTable table =
        new TextTable("CALLS>", "TOTAL>", "SELF>", "CALLER", "CALLEE", "ISA", "IMAGE");
    for (EdgeRow row : rows.subList(0, Math.min(maxEdges, rows.size()))) {
      table.row(
          String.valueOf(row.calls()),
          String.valueOf(row.total()),
          String.valueOf(row.self()),
          row.caller(),
          row.callee(),
          row.isa(),
          row.image());
    }
    table.write(out);
    if (rows.size() > maxEdges) {
      Line.write(out, "# and %d more edges".formatted(rows.size() - maxEdges));
    }
  }

  private static void systemCalls(List<SystemCallRow> rows, Appendable out) throws IOException {
    if (rows.isEmpty()) {
      return;
    }
    out.append('\n');
    TextTable table = new TextTable("CALLS>", "ERRORS>", "TOTAL>", "SYSTEM CALL", "ISA");
    for (SystemCallRow row : rows) {
      table.row(
          String.valueOf(row.calls()),
          String.valueOf(row.errors()),
          String.valueOf(row.total()),
          row.name(),
          row.isa());
    }
    table.write(out);
  }

  private static void stats(List<StatRow> rows, Appendable out) throws IOException {
    if (rows.isEmpty()) {
      return;
    }
    out.append('\n');
    TextTable table = new TextTable("STAT", "SEVERITY", "SOURCE", "COUNT>", "MEANING");
    for (StatRow row : rows) {
      table.row(
          row.name(),
          row.severity().name(),
          row.source().name(),
          String.valueOf(row.count()),
          row.sentence());
    }
    table.write(out);
  }
}
