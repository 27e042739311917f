package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/**
 * Which partitions of events an answer was made from. An answer of one member of several is true
 * for its own partitions only, and says so.
 *
 * @param owned partitions of the member that answers, in order
 * @param of partitions of the topic
 */
public record Coverage(List<Integer> owned, int of) {
  public Coverage {
    owned = List.copyOf(owned);
  }

  /** Whether every partition is in the answer. */
  public boolean complete() {
    return owned.size() == of;
  }

  /** Writes {@code "partitions": {"owned": [..], "of": N}}. */
  void writeTo(JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("partitions");
    json.writeArrayFieldStart("owned");
    for (int partition : owned) {
      json.writeNumber(partition);
    }
    json.writeEndArray();
    json.writeNumberField("of", of);
    json.writeEndObject();
  }
}
