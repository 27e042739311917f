package dev.retstack.service.export;

import dev.retstack.graph.report.AnomalyRow;
import java.io.IOException;
import java.util.List;

/** Anomalies as RFC 4180 text; the stack is one field, innermost first, divided by semicolons. */
public final class AnomalyCsv {
  private AnomalyCsv() {}

  /** Writes a head line and one line per anomaly. */
  public static void write(List<AnomalyRow> anomalies, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(
        "kind",
        "core",
        "task",
        "function",
        "expected",
        "received",
        "time",
        "stack",
        "severity",
        "caller",
        "count",
        "message",
        "cause",
        "cure",
        "taskName");
    for (AnomalyRow row : anomalies) {
      csv.line(
          row.kind(),
          row.core(),
          TaskText.id(row.task()),
          row.function(),
          Units.hex(row.expected()),
          Units.hex(row.received()),
          row.time(),
          String.join(";", row.stack()),
          row.severity(),
          row.caller(),
          row.count(),
          row.message(),
          row.kind().cause(),
          row.kind().cure(),
          row.taskName());
    }
  }
}
