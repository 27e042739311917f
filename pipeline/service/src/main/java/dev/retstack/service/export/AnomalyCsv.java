package dev.retstack.service.export;

import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import java.io.IOException;
import java.util.List;

/**
 * Anomalies as RFC 4180 text, the fields of {@link AnomalyJson}; the stack is one field, innermost
 * first, divided by semicolons.
 */
public final class AnomalyCsv {
  private AnomalyCsv() {}

  /** Writes a head line and one line per sum. */
  public static void write(List<AnomalySum> anomalies, Appendable out) throws IOException {
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
        "taskName",
        "session",
        "place",
        "times",
        "kept",
        "last",
        "cores",
        "tasks",
        "groups");
    for (AnomalySum sum : anomalies) {
      AnomalyRow row = sum.sample();
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
          sum.count(),
          row.message(),
          row.kind().cause(),
          row.kind().cure(),
          row.taskName(),
          row.session(),
          sum.place(),
          sum.times(),
          sum.kept(),
          sum.last(),
          sum.cores(),
          sum.tasks(),
          sum.groups());
    }
  }
}
