package dev.retstack.answers.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.List;

/** Reads columns of JSON that are written in steps, as the pages do. */
public final class Columns {
  private Columns() {}

  /** A column as it was before. */
  public static List<JsonNode> values(JsonNode steps) {
    List<JsonNode> values = new ArrayList<>();
    long last = 0;
    for (JsonNode step : steps) {
      JsonNode one = step.isArray() ? step.get(0) : step;
      for (int i = 0; i < (step.isArray() ? step.get(1).asInt() : 1); i++) {
        last += one.isTextual() ? 0 : one.asLong();
        long value = one.isTextual() ? Long.parseLong(one.asText()) : last;
        values.add(one.isNull() ? one : JsonNodeFactory.instance.numberNode(value));
      }
    }
    return values;
  }
}
