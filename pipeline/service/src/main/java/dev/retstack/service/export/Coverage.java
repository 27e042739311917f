package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/**
 * Which partitions of events an answer was made from, and where each part came from. What is
 * missing is said, never left out in silence.
 *
 * @param owned partitions in the answer, in order
 * @param of partitions of the topic
 * @param parts all partitions, in order; empty where a member speaks of its own only
 */
public record Coverage(List<Integer> owned, int of, List<PartRow> parts) {
  public Coverage {
    owned = List.copyOf(owned);
    parts = List.copyOf(parts);
  }

  /** One member's own partitions. */
  public Coverage(List<Integer> owned, int of) {
    this(owned, of, List.of());
  }

  /** The whole job. */
  public static Coverage of(List<PartRow> parts) {
    return new Coverage(
        parts.stream().filter(part -> !part.isMissing()).map(PartRow::partition).toList(),
        parts.size(),
        parts);
  }

  /** Whether every partition is in the answer. */
  public boolean complete() {
    return owned.size() == of;
  }

  /** Those that are missing. */
  public List<PartRow> missing() {
    return parts.stream().filter(PartRow::isMissing).toList();
  }

  /** A line for each part that is missing; nothing where all are there. */
  public void writeMissing(Appendable out) throws IOException {
    for (PartRow part : missing()) {
      Line.write(out, "partition %d is missing: %s".formatted(part.partition(), part.missing()));
    }
  }

  /** Writes {@code "partitions": {"owned": [..], "of": N}}, and {@code "parts"} of a job. */
  void writeTo(JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("partitions");
    json.writeArrayFieldStart("owned");
    for (int partition : owned) {
      json.writeNumber(partition);
    }
    json.writeEndArray();
    json.writeNumberField("of", of);
    json.writeEndObject();
    if (!parts.isEmpty()) {
      PartRow.write(parts, json);
    }
  }
}
