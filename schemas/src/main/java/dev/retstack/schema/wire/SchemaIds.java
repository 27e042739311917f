package dev.retstack.schema.wire;

import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Fleet;
import dev.retstack.schema.Image;
import dev.retstack.schema.Node;
import dev.retstack.schema.Profile;
import dev.retstack.schema.Span;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceRecords;
import dev.retstack.schema.avro.AvroRecord;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;

/**
 * Ids of schemas without a registry. The id is computed from the schema, so every process gives the
 * same schema the same number.
 *
 * <p>id = first four bytes, big-endian, of the SHA-256 of the schema's parsing canonical form (Avro
 * specification), with the top bit cleared.
 */
public final class SchemaIds {
  /** Every record that may stand in a message. */
  private static final List<Supplier<? extends AvroRecord>> TYPES =
      List.of(
          Chunk::new,
          Image::new,
          Control::new,
          ControlResult::new,
          Span::new,
          Anomaly::new,
          Profile::new,
          DeadLetter::new,
          Node::new,
          Fleet::new,
          TraceEntry::new,
          TraceRecords::new);

  private static final Map<Class<?>, Supplier<? extends AvroRecord>> BY_CLASS =
      TYPES.stream()
          .collect(Collectors.toUnmodifiableMap(type -> type.get().getClass(), type -> type));

  private static final List<Schema> CURRENT =
      TYPES.stream().map(type -> type.get().getSchema()).toList();

  private static final Map<Integer, Schema> BY_ID = table();

  /**
   * Ids of the schemas above, by identity, because hashing a schema for each message is expensive.
   */
  private static final IdentityHashMap<Schema, Integer> ID_OF = new IdentityHashMap<>();

  static {
    BY_ID.forEach((id, schema) -> ID_OF.put(schema, id));
  }

  private SchemaIds() {}

  /** A record of that class, without values. */
  static <T extends AvroRecord> T newRecord(Class<T> type) {
    return type.cast(BY_CLASS.get(type).get());
  }

  /** Id of any schema: positive, below 2^31. */
  public static int idOf(Schema schema) {
    Integer known = ID_OF.get(schema);
    return known != null ? known : computeId(schema);
  }

  private static int computeId(Schema schema) {
    int id = ByteBuffer.wrap(digest(schema)).getInt() & Integer.MAX_VALUE;
    return id == 0 ? 1 : id;
  }

  /** The whole SHA-256 in lower-case hex: value of {@link Headers#SCHEMA_FINGERPRINT}. */
  public static String fingerprint(Schema schema) {
    return HexFormat.of().formatHex(digest(schema));
  }

  /** The schema behind an id, where this version knows it. */
  public static Optional<Schema> schemaById(int id) {
    return Optional.ofNullable(BY_ID.get(id));
  }

  /** The schemas that this version writes. */
  public static List<Schema> current() {
    return CURRENT;
  }

  /** Registry subjects ({@code <topic>-value}) and the current schema of each. */
  public static Map<String, Schema> subjects(Topics topics) {
    Map<String, Schema> subjects = new LinkedHashMap<>();
    topics.valueSchemas().forEach((topic, schema) -> subjects.put(topic + "-value", schema));
    return subjects;
  }

  private static byte[] digest(Schema schema) {
    try {
      return SchemaNormalization.parsingFingerprint("SHA-256", schema);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static Map<Integer, Schema> table() {
    Map<Integer, Schema> table = new LinkedHashMap<>();
    for (Schema schema : CURRENT) {
      Schema other = table.put(computeId(schema), schema);
      if (other != null) {
        throw new IllegalStateException(
            other.getFullName() + " and " + schema.getFullName() + " have the same schema id");
      }
    }
    return table;
  }
}
