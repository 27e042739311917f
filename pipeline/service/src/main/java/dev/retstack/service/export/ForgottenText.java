package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.aggregate.ForgottenSessions;
import java.io.IOException;
import java.time.Instant;

/** What is no longer in an answer, since nothing had come of it for too long. */
public final class ForgottenText {
  private ForgottenText() {}

  /** {@code forgotten:{sessions, cores, records, lost, since}}; since only where there are any. */
  static void json(ForgottenSessions forgotten, JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("forgotten");
    json.writeNumberField("sessions", forgotten.sessions());
    json.writeNumberField("cores", forgotten.cores());
    json.writeNumberField("records", forgotten.records());
    json.writeNumberField("lost", forgotten.lost());
    if (forgotten.since() > 0) {
      json.writeNumberField("since", forgotten.since());
    }
    json.writeEndObject();
  }

  /** A line, where there are any. */
  public static void text(ForgottenSessions forgotten, Appendable out) throws IOException {
    if (forgotten.sessions() > 0) {
      Line.write(
          out,
          "%,d sessions with %,d cores and %,d records were forgotten since %s: --keep-ended"
              .formatted(
                  forgotten.sessions(),
                  forgotten.cores(),
                  forgotten.records(),
                  Instant.ofEpochMilli(forgotten.since())));
    }
  }
}
