package dev.retstack.answers.view;

import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Line;
import dev.retstack.answers.table.Rendering;
import java.util.List;

/**
 * The partitions of events in an answer, and the origin of each part. Missing parts are named,
 * never left out silently.
 *
 * @param owned partitions in the answer, in order
 * @param of partitions of the topic
 * @param parts all partitions, in order; empty where the answer is of one member's partitions only
 * @param cut whether it is a trace that was cut off
 */
public record Coverage(List<Integer> owned, int of, List<PartRow> parts, boolean cut) {
  public Coverage {
    owned = List.copyOf(owned);
    parts = List.copyOf(parts);
  }

  /** Coverage of one member's partitions. */
  public Coverage(List<Integer> owned, int of) {
    this(owned, of, List.of(), false);
  }

  /** A trace, which has no partitions. */
  public static Coverage ofTrace(boolean cut) {
    return new Coverage(List.of(), 0, List.of(), cut);
  }

  /** The whole job. */
  public static Coverage of(List<PartRow> parts) {
    return new Coverage(
        parts.stream().filter(part -> !part.isMissing()).map(PartRow::partition).toList(),
        parts.size(),
        parts,
        false);
  }

  /** Whether every partition is in the answer. */
  public boolean complete() {
    return owned.size() == of;
  }

  /** Partitions that are missing. */
  public List<PartRow> missing() {
    return parts.stream().filter(PartRow::isMissing).toList();
  }

  /** Says it in a document: its fields, and as text a line for each part that is missing. */
  void addTo(Document document) {
    var _ = CutOff.ahead(cut, document);
    addFields(document);
    missing().forEach(part -> document.line(line(part)));
  }

  /**
   * Writes the notices ahead of a text without a place for them; JSON and CSV have it in the
   * header.
   */
  public Rendering ahead(Rendering shown) {
    return (form, out) -> {
      if (form == Format.TEXT) {
        for (PartRow part : missing()) {
          Line.write(out, "# " + line(part));
        }
      }
      shown.write(form, out);
    };
  }

  private static String line(PartRow part) {
    return "partition %d is missing: %s".formatted(part.partition(), part.missing());
  }

  /** {@code "partitions": {"owned": [..], "of": N}}, and {@code "parts"} of a job. */
  void addFields(Document document) {
    document
        .field("partitions", Document.object("owned", owned, "of", of))
        .rowsIfAny("parts", PartRow.PARTS, parts);
  }
}
