package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.hot.HotProfile;
import dev.retstack.graph.hot.HotRow;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * Hot addresses as JSON, a contract kept stable: {@code [{core, session, calls, lost, total, error,
 * notKept, rows: [{function, address, image, isa, hits, atLeast, atMost, ratio}]}]}; core and
 * session are empty for all cores together.
 */
public final class HotJson {
  private HotJson() {}

  /** Writes all profiles as one array. */
  public static void write(List<HotProfile> profiles, Writer out) throws IOException {
    Json.write(
        json -> {
          json.writeStartArray();
          for (HotProfile profile : profiles) {
            profile(profile, json);
          }
          json.writeEndArray();
        },
        out);
  }

  private static void profile(HotProfile profile, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("core", profile.core());
    json.writeStringField("session", profile.session());
    json.writeNumberField("calls", profile.calls());
    json.writeNumberField("lost", profile.lost());
    json.writeNumberField("untraced", profile.untraced());
    json.writeNumberField("total", profile.total());
    json.writeNumberField("error", profile.error());
    json.writeNumberField("notKept", profile.notKept());
    json.writeArrayFieldStart("rows");
    for (HotRow row : profile.rows()) {
      json.writeStartObject();
      json.writeStringField("function", row.function());
      Json.hex(json, "address", row.count().address());
      json.writeStringField("image", row.image());
      json.writeStringField("isa", row.isa());
      json.writeNumberField("hits", row.count().hits());
      json.writeNumberField("atLeast", row.count().atLeast());
      json.writeNumberField("atMost", row.count().atMost());
      json.writeNumberField("ratio", row.count().ratio());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
