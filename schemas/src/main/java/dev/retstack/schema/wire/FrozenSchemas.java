package dev.retstack.schema.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;

/**
 * The schemas of released versions, kept so that their messages and traces stay readable. A version
 * is kept as its {@code TraceEntry}, which holds every schema that stands both in messages and in
 * traces.
 */
public final class FrozenSchemas {
  /** Versions whose schema is kept as a resource, oldest first. */
  public static final List<String> VERSIONS =
      List.of("v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11");

  /** Messages that no trace holds, as they were up to the version named. */
  private static final List<String> MESSAGES =
      List.of("Anomaly-v6", "Span-v6", "Anomaly-v7", "Span-v7", "Anomaly-v9", "Span-v9");

  private FrozenSchemas() {}

  /** The schema of {@code TraceEntry} of a version, as its traces announce it. */
  public static String traceEntry(String version) {
    return resource("trace-schema-" + version + ".avsc");
  }

  /** Former schemas of messages that no trace holds. */
  static List<Schema> messages() {
    return MESSAGES.stream()
        .map(name -> new Schema.Parser().parse(resource("message-schema-" + name + ".avsc")))
        .toList();
  }

  private static String resource(String name) {
    try (InputStream in = FrozenSchemas.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("resource " + name + " is missing from the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every record of a version that may stand alone in a message. */
  static Collection<Schema> records(String version) {
    Schema entry = new Schema.Parser().parse(traceEntry(version));
    Map<String, Schema> records = new LinkedHashMap<>();
    records.put(entry.getFullName(), entry);
    for (Schema.Field field : entry.getFields()) {
      for (Schema branch : field.schema().getTypes()) {
        if (branch.getType() == Schema.Type.RECORD) {
          records.put(branch.getFullName(), branch);
        }
      }
    }
    return records.values();
  }
}
