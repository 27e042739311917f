package dev.retstack.answers.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.answers.table.Json;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.RecordedValues;
import dev.retstack.graph.tree.TreeKind;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * Call trees as JSON, a contract kept stable: one object {@code {core, session, task, instance,
 * taskName, image, isa, unit, notKept, calls}} per core and task, with nested calls {@code
 * {function, enter, exit, children}}. The last object of a core says how many later calls its trees
 * have no room for ({@code notKept}). Those of a trace that was cut off have {@code cut}. The exit
 * is null if the end of the call is unknown. {@code took} is there if the call took less time than
 * from enter to exit: its task was switched out. {@code arguments} and {@code returns}, if any, are
 * raw, in hex; {@code shownArguments} and {@code shownReturns} are the same as text, in the format
 * that was asked for.
 *
 * <p>A row that is not a call with a frame has a {@code kind}: FUNCTION (with {@code caller}),
 * SYSTEM_CALL, MARK (with {@code command} and {@code stack}), or LOSS (with the fields of {@code
 * ReportView.LOSSES}). The function of a LOSS is DROPPED or MISSING; its children are calls with an
 * unknown caller. A call that a loss cut off has {@code atLeast} and, if known, {@code atMost} of
 * its duration.
 */
public final class GraphJson {
  private GraphJson() {}

  /**
   * Writes all trees as one array.
   *
   * @param maxDepth deepest nesting written
   * @param cut whether their trace was cut off: each object says so
   */
  public static void write(List<CallTree> trees, int maxDepth, boolean cut, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartArray();
          for (CallTree tree : trees) {
            tree(tree, maxDepth, cut, json);
          }
          if (cut && trees.isEmpty()) {
            json.writeStartObject();
            json.writeBooleanField("cut", true);
            json.writeArrayFieldStart("calls");
            json.writeEndArray();
            json.writeEndObject();
          }
          json.writeEndArray();
        },
        out);
  }

  private static void tree(CallTree tree, int maxDepth, boolean cut, JsonGenerator json)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("core", tree.core());
    json.writeStringField("session", tree.session());
    Json.hex(json, "task", tree.task());
    json.writeNumberField("instance", tree.instance());
    json.writeStringField("taskName", tree.taskName());
    json.writeStringField("image", tree.image());
    json.writeStringField("isa", tree.isa());
    json.writeStringField("unit", tree.unit().name());
    json.writeNumberField("notKept", tree.notKept());
    if (cut) {
      json.writeBooleanField("cut", true);
    }
    json.writeArrayFieldStart("calls");
    TreeWalk.walk(tree, List.of(), maxDepth, new Nested(json));
    json.writeEndArray();
    json.writeEndObject();
  }

  private record Nested(JsonGenerator json) implements TreeWalk.Visitor {
    @Override
    public void enter(CallNode call, int depth) throws IOException {
      json.writeStartObject();
      json.writeStringField("function", call.function());
      json.writeNumberField("enter", call.enter());
      if (call.ending().finished()) {
        json.writeNumberField("exit", call.exit());
      } else {
        json.writeNullField("exit");
      }
      if (call.ending().finished() && call.took() != call.exit() - call.enter()) {
        json.writeNumberField("took", call.took());
      }
      if (call.isCall() && call.ending() == Ending.TRUNCATED) {
        json.writeNumberField("atLeast", call.exit() - call.enter());
        if (call.deadBy() >= 0) {
          json.writeNumberField("atMost", call.deadBy() - call.enter());
        }
      }
      if (!call.isCall()) {
        other(call);
      }
      values(
          "arguments", "shownArguments", call.recorded().arguments(), call.recorded().wordBytes());
      values("returns", "shownReturns", call.recorded().results(), call.recorded().wordBytes());
      json.writeArrayFieldStart("children");
    }

    private void other(CallNode call) throws IOException {
      json.writeStringField("kind", call.kind().name());
      if (!call.recorded().caller().isEmpty()) {
        json.writeStringField("caller", call.recorded().caller());
      }
      if (call.kind() == TreeKind.LOSS) {
        loss(call.loss(), json);
      }
      if (call.kind() == TreeKind.MARK) {
        json.writeNumberField("command", call.recorded().command());
        json.writeArrayFieldStart("stack");
        for (String frame : call.recorded().stack()) {
          json.writeString(frame);
        }
        json.writeEndArray();
      }
    }

    private void values(String field, String shown, RecordedValues values, int wordBytes)
        throws IOException {
      if (!values.isEmpty()) {
        json.writeArrayFieldStart(field);
        for (long value : values.values().toLongArray()) {
          json.writeString(Units.hex(value));
        }
        json.writeEndArray();
        json.writeStringField(shown, ValueText.list(values, wordBytes));
      }
    }

    @Override
    public void exit(CallNode call, int depth) throws IOException {
      json.writeEndArray();
      json.writeEndObject();
    }

    @Override
    public void anomaly(AnomalyRow anomaly, int depth) {
      throw new IllegalStateException("a tree without anomalies met " + anomaly.kind());
    }
  }

  private static void loss(Loss loss, JsonGenerator json) throws IOException {
    json.writeNumberField("records", loss.records());
    json.writeNumberField("fromChunk", loss.fromChunk());
    json.writeNumberField("toChunk", loss.toChunk());
    json.writeNumberField("record", loss.record());
    json.writeNumberField("after", loss.after());
    json.writeNumberField("until", loss.until());
  }
}
