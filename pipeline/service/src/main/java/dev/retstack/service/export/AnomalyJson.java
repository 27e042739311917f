package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * Anomalies as JSON, a contract kept stable: {@code [{kind, core, task, function, expected,
 * received, time, stack:[...], severity, caller, count, message, cause, cure, taskName, session,
 * place, times, kept, last, cores, tasks, groups}]}. Counts are exact, see {@link AnomalySum};
 * {@code core}, {@code task}, {@code time}, {@code expected}, {@code received}, {@code stack} and
 * {@code message} are those of the first that was kept. Expected and received are strings in hex,
 * cause and cure sentences of the kind.
 */
public final class AnomalyJson {
  private AnomalyJson() {}

  /** Writes all anomalies as one array. */
  public static void write(List<AnomalySum> anomalies, Writer out) throws IOException {
    Json.write(
        json -> {
          json.writeStartArray();
          for (AnomalySum sum : anomalies) {
            anomaly(sum, json);
          }
          json.writeEndArray();
        },
        out);
  }

  private static void anomaly(AnomalySum sum, JsonGenerator json) throws IOException {
    AnomalyRow row = sum.sample();
    json.writeStartObject();
    json.writeStringField("kind", row.kind().name());
    json.writeStringField("core", row.core());
    TaskText.id(json, row.task());
    json.writeStringField("function", row.function());
    Json.hex(json, "expected", row.expected());
    Json.hex(json, "received", row.received());
    json.writeNumberField("time", row.time());
    json.writeArrayFieldStart("stack");
    for (String frame : row.stack()) {
      json.writeString(frame);
    }
    json.writeEndArray();
    json.writeStringField("severity", row.severity().name());
    json.writeStringField("caller", row.caller());
    json.writeNumberField("count", sum.count());
    json.writeStringField("message", row.message());
    json.writeStringField("cause", row.kind().cause());
    json.writeStringField("cure", row.kind().cure());
    json.writeStringField("taskName", row.taskName());
    json.writeStringField("session", row.session());
    json.writeStringField("place", sum.place());
    json.writeNumberField("times", sum.times());
    json.writeNumberField("kept", sum.kept());
    json.writeNumberField("last", sum.last());
    json.writeNumberField("cores", sum.cores());
    json.writeNumberField("tasks", sum.tasks());
    json.writeNumberField("groups", sum.groups());
    json.writeEndObject();
  }
}
