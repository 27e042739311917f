package dev.retstack.service.export;

import dev.retstack.graph.report.OpenCallRow;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Optional;

/** Calls that have not ended, in every form. */
public final class OpenCallText {
  private OpenCallText() {}

  /**
   * {@code {partitions, parts, open, calls:[{core, session, task, instance, taskName, function,
   * selfPc, depth, enter, openFor, unit}]}}.
   *
   * @param coverage of a job; empty for a trace
   * @param open calls that are open, also those that the trees did not keep
   */
  public static void json(
      List<OpenCallRow> calls, long open, Optional<Coverage> coverage, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          if (coverage.isPresent()) {
            coverage.get().writeTo(json);
          }
          json.writeNumberField("open", open);
          json.writeArrayFieldStart("calls");
          for (OpenCallRow call : calls) {
            json.writeStartObject();
            json.writeStringField("core", call.core());
            json.writeStringField("session", call.session());
            TaskText.id(json, call.task());
            json.writeNumberField("instance", call.instance());
            json.writeStringField("taskName", call.taskName());
            json.writeStringField("function", call.function());
            Json.hex(json, "selfPc", call.selfPc());
            json.writeNumberField("depth", call.depth());
            json.writeNumberField("enter", call.enter());
            json.writeNumberField("openFor", call.openFor());
            json.writeStringField("unit", call.unit().name());
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        },
        out);
  }

  /** The same fields as RFC 4180 text. */
  public static void csv(List<OpenCallRow> calls, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(
        "core", "session", "task", "taskName", "function", "depth", "enter", "openFor", "unit");
    for (OpenCallRow call : calls) {
      csv.line(
          call.core(),
          call.session(),
          TaskText.id(call.task()),
          call.taskName(),
          call.function(),
          call.depth(),
          call.enter(),
          call.openFor(),
          call.unit());
    }
  }

  /** A table, and how many more calls are open than it has. */
  public static void text(List<OpenCallRow> calls, long open, Appendable out) throws IOException {
    TextTable table =
        new TextTable("CORE", "TASK", "DEPTH>", "ENTER>", "OPEN FOR>", "UNIT", "FUNCTION");
    for (OpenCallRow call : calls) {
      table.row(
          call.core(),
          call.taskName(),
          String.valueOf(call.depth()),
          String.valueOf(call.enter()),
          String.valueOf(call.openFor()),
          call.unit().name(),
          call.function());
    }
    table.write(out);
    Line.write(out, "%d calls are open, %d are shown".formatted(open, calls.size()));
  }
}
