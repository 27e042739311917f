package dev.retstack.answers.view;

import dev.retstack.answers.table.Document;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.state.ForgottenSessions;
import java.time.Instant;
import java.util.Map;

/** What an answer no longer has, because it was silent for too long. */
final class ForgottenView {
  private ForgottenView() {}

  /**
   * {@code forgotten:{sessions, cores, records, lost, since}}; since, and a line of text, only
   * where there are any.
   */
  static void addTo(Document document, ForgottenSessions forgotten) {
    Map<String, Object> fields =
        Document.object(
            "sessions", forgotten.sessions(),
            "cores", forgotten.cores(),
            "records", forgotten.records(),
            "lost", forgotten.lost());
    if (forgotten.since() > 0) {
      fields.put("since", forgotten.since());
    }
    document.field("forgotten", fields);
    if (forgotten.sessions() > 0) {
      document.line(
          "forgotten since %4$s: %1$s with %2$s and %3$s: --keep-ended"
              .formatted(
                  Count.grouped(forgotten.sessions(), "session"),
                  Count.grouped(forgotten.cores(), "core"),
                  Count.grouped(forgotten.records(), "record"),
                  Instant.ofEpochMilli(forgotten.since())));
    }
  }
}
