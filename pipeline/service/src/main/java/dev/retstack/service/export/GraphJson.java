package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * Call trees as JSON, a contract kept stable: one object {@code {core, session, task, image, isa,
 * unit, calls}} per core and task, whose calls are nested {@code {function, enter, exit,
 * children}}. The exit of a call whose end is unknown is null.
 */
public final class GraphJson {
  private GraphJson() {}

  /**
   * Writes all trees as one array.
   *
   * @param maxDepth deepest nesting written
   */
  public static void write(List<CallTree> trees, int maxDepth, Writer out) throws IOException {
    Json.write(
        json -> {
          json.writeStartArray();
          for (CallTree tree : trees) {
            tree(tree, maxDepth, json);
          }
          json.writeEndArray();
        },
        out);
  }

  private static void tree(CallTree tree, int maxDepth, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("core", tree.core());
    json.writeStringField("session", tree.session());
    json.writeNumberField("task", tree.task());
    json.writeStringField("image", tree.image());
    json.writeStringField("isa", tree.isa());
    json.writeStringField("unit", tree.unit().name());
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
      json.writeArrayFieldStart("children");
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
}
