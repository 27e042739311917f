package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.InterruptRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.TaskRow;
import java.io.IOException;
import java.util.List;

/** The tasks and interrupts of cores, where they have any, for people and programs. */
final class ContextText {
  private ContextText() {}

  static void write(Report report, Appendable out) throws IOException {
    List<CoreRow> cores = report.cores();
    TextTable tasks =
        new TextTable(
            "CALLS>",
            "OPEN>",
            "UNWOUND>",
            "ENDED>",
            "RAN>",
            "SWITCHES>",
            "TASK",
            "STATE",
            "CORE",
            "COMPLETE>");
    TextTable interrupts = new TextTable("COUNT>", "TOTAL>", "MAX>", "INTERRUPT>", "CORE");
    boolean anyTask = false;
    boolean anyInterrupt = false;
    for (CoreRow core : cores) {
      for (TaskRow t : tasks(report, core)) {
        anyTask = true;
        tasks.row(
            String.valueOf(t.entries()),
            String.valueOf(t.open()),
            String.valueOf(t.unwound()),
            String.valueOf(t.ended()),
            String.valueOf(t.ran()),
            String.valueOf(t.switches()),
            t.name(),
            t.over() ? "over" : "live",
            core.core(),
            Units.percent(t.completeness()));
      }
      for (InterruptRow i : core.interrupts()) {
        anyInterrupt = true;
        interrupts.row(
            String.valueOf(i.count()),
            String.valueOf(i.total()),
            String.valueOf(i.max()),
            String.valueOf(i.number()),
            core.core());
      }
    }
    if (anyTask) {
      out.append('\n');
      tasks.write(out);
    }
    if (anyInterrupt) {
      out.append('\n');
      interrupts.write(out);
    }
  }

  /** Fields {@code tasks} and {@code interrupts}, where there are any. */
  static void write(Report report, JsonGenerator json) throws IOException {
    List<CoreRow> cores = report.cores();
    if (cores.stream().anyMatch(core -> !tasks(report, core).isEmpty())) {
      json.writeArrayFieldStart("tasks");
      for (CoreRow core : cores) {
        for (TaskRow t : tasks(report, core)) {
          json.writeStartObject();
          json.writeStringField("core", core.core());
          json.writeStringField("session", core.session());
          Json.hex(json, "task", t.id());
          json.writeNumberField("instance", t.instance());
          json.writeStringField("name", t.name());
          json.writeNumberField("calls", t.entries());
          json.writeNumberField("open", t.open());
          json.writeNumberField("unwound", t.unwound());
          json.writeNumberField("ended", t.ended());
          json.writeNumberField("truncated", t.truncated());
          json.writeNumberField("ran", t.ran());
          json.writeNumberField("switches", t.switches());
          json.writeBooleanField("over", t.over());
          json.writeNumberField("records", t.records());
          json.writeNumberField("mayMiss", t.mayMiss());
          json.writeNumberField("mayBeUntraced", t.mayBeUntraced());
          json.writeNumberField("completeness", t.completeness());
          if (!t.losses().isEmpty()) {
            ReportJson.losses(t.losses(), json);
          }
          json.writeEndObject();
        }
      }
      json.writeEndArray();
    }
    if (cores.stream().anyMatch(core -> !core.interrupts().isEmpty())) {
      json.writeArrayFieldStart("interrupts");
      for (CoreRow core : cores) {
        for (InterruptRow i : core.interrupts()) {
          json.writeStartObject();
          json.writeStringField("core", core.core());
          json.writeStringField("session", core.session());
          json.writeNumberField("number", i.number());
          json.writeNumberField("count", i.count());
          json.writeNumberField("finished", i.finished());
          json.writeNumberField("total", i.total());
          json.writeNumberField("max", i.max());
          json.writeEndObject();
        }
      }
      json.writeEndArray();
    }
  }

  private static List<TaskRow> tasks(Report report, CoreRow core) {
    return core.tasks().stream().filter(t -> report.choice().has(t.id(), t.name())).toList();
  }
}
