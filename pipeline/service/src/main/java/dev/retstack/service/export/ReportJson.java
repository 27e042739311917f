package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.aggregate.ForgottenSessions;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.report.ContextRow;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.report.SystemCallRow;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * The report as JSON, a contract kept stable: {@code {unit, records, lost, untraced, completeness,
 * resultHash, functions:[{name, address, image, isa, calls, total, self, min, max, avg}],
 * edges:[{caller, callee, calls, total}], stats:[{name, severity, source, count}]}}; where records
 * are missing or calls ran untraced, {@code incomplete:[{core, session, task, records, lost,
 * untraced, completeness, losses:[{kind, records, fromChunk, toChunk, record, after, until}]}]}
 * behind the hash, and where some time is in no total, {@code notCounted:["sleep-time"]}. Addresses
 * are strings in hex, since JSON readers lose digits of 64-bit numbers.
 */
public final class ReportJson {
  private ReportJson() {}

  /** Writes the report as one object. */
  public static void write(Report report, Writer out) throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          fields(report, json);
          json.writeEndObject();
        },
        out);
  }

  /**
   * Writes the report of a member, which says first which partitions it covers, and then what is
   * left out of it: {@code forgotten:{sessions, cores, records, lost, since}}.
   */
  public static void write(
      Report report, ForgottenSessions forgotten, Coverage coverage, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          coverage.writeTo(json);
          ForgottenText.json(forgotten, json);
          fields(report, json);
          json.writeEndObject();
        },
        out);
  }

  private static void fields(Report report, JsonGenerator json) throws IOException {
    json.writeStringField("unit", report.unit().name());
    json.writeNumberField("records", report.records());
    json.writeNumberField("lost", report.lost());
    json.writeNumberField("untraced", report.untraced());
    json.writeNumberField("completeness", report.completeness());
    json.writeStringField("resultHash", report.resultHash());
    if (!report.rules().off().isEmpty()) {
      json.writeArrayFieldStart("notCounted");
      for (String rule : report.rules().off()) {
        json.writeString(rule);
      }
      json.writeEndArray();
    }
    if (!report.choice().isAll()) {
      json.writeStringField("onlyTask", report.choice().text());
    }
    losses(report, json);
    totals(report.functions(), report.edges(), json);
    byTask(report.byTask(), json);
    if (!report.systemCalls().isEmpty()) {
      json.writeArrayFieldStart("systemCalls");
      for (SystemCallRow row : report.systemCalls()) {
        systemCall(row, json);
      }
      json.writeEndArray();
    }
    ContextText.write(report, json);
    json.writeFieldName("stats");
    stats(report.stats(), json);
  }

  private static void totals(List<FunctionRow> functions, List<EdgeRow> edges, JsonGenerator json)
      throws IOException {
    json.writeArrayFieldStart("functions");
    for (FunctionRow row : functions) {
      function(row, json);
    }
    json.writeEndArray();
    json.writeArrayFieldStart("edges");
    for (EdgeRow row : edges) {
      edge(row, json);
    }
    json.writeEndArray();
  }

  private static void byTask(List<ContextRow> rows, JsonGenerator json) throws IOException {
    if (rows.isEmpty()) {
      return;
    }
    json.writeArrayFieldStart("byTask");
    for (ContextRow row : rows) {
      json.writeStartObject();
      json.writeStringField("core", row.context().core().core());
      json.writeStringField("session", row.context().core().session());
      if (row.context().isTask()) {
        TaskText.id(json, row.context().task());
        json.writeNumberField("instance", row.context().instance());
      }
      json.writeStringField("taskName", row.name());
      json.writeBooleanField("interrupts", row.context().isInterrupts());
      totals(row.functions(), row.edges(), json);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void losses(Report report, JsonGenerator json) throws IOException {
    if (report.cores().stream().allMatch(CoreRow::isWhole)) {
      return;
    }
    json.writeArrayFieldStart("incomplete");
    for (CoreRow core : report.cores()) {
      if (!core.isWhole()) {
        json.writeStartObject();
        json.writeStringField("core", core.core());
        json.writeStringField("session", core.session());
        TaskText.id(json, 0);
        json.writeNumberField("records", core.records());
        json.writeNumberField("lost", core.lost());
        json.writeNumberField("untraced", core.untraced());
        json.writeNumberField("completeness", core.completeness());
        losses(core.losses(), json);
        json.writeEndObject();
      }
    }
    json.writeEndArray();
  }

  /** {@code losses:[{kind, ..}]}, each with the fields of {@link #loss}. */
  static void losses(List<Loss> losses, JsonGenerator json) throws IOException {
    json.writeArrayFieldStart("losses");
    for (Loss loss : losses) {
      json.writeStartObject();
      json.writeStringField("kind", loss.kind().name());
      loss(loss, json);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /** {@code records, fromChunk, toChunk, record, after, until}: see {@link Loss}. */
  static void loss(Loss loss, JsonGenerator json) throws IOException {
    json.writeNumberField("records", loss.records());
    json.writeNumberField("fromChunk", loss.fromChunk());
    json.writeNumberField("toChunk", loss.toChunk());
    json.writeNumberField("record", loss.record());
    json.writeNumberField("after", loss.after());
    json.writeNumberField("until", loss.until());
  }

  static void function(FunctionRow row, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("name", row.name());
    Json.hex(json, "address", row.address());
    json.writeStringField("image", row.image());
    json.writeStringField("isa", row.isa());
    json.writeNumberField("calls", row.calls());
    json.writeNumberField("total", row.total());
    json.writeNumberField("self", row.self());
    json.writeNumberField("min", row.min());
    json.writeNumberField("max", row.max());
    json.writeNumberField("avg", row.avg());
    json.writeEndObject();
  }

  static void edge(EdgeRow row, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("caller", row.caller());
    json.writeStringField("callee", row.callee());
    json.writeNumberField("calls", row.calls());
    json.writeNumberField("total", row.total());
    json.writeEndObject();
  }

  private static void systemCall(SystemCallRow row, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("name", row.name());
    json.writeStringField("isa", row.isa());
    json.writeNumberField("calls", row.calls());
    json.writeNumberField("errors", row.errors());
    json.writeNumberField("total", row.total());
    json.writeEndObject();
  }

  static void stats(List<StatRow> rows, JsonGenerator json) throws IOException {
    json.writeStartArray();
    for (StatRow row : rows) {
      json.writeStartObject();
      json.writeStringField("name", row.name());
      json.writeStringField("severity", row.severity().name());
      json.writeStringField("source", row.source().name());
      json.writeNumberField("count", row.count());
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
