package dev.retstack.schema.wire;

/** Names of the Kafka headers on every record this project writes; values are UTF-8. */
public final class Headers {
  /** Always {@link #AVRO}. */
  public static final String CONTENT_TYPE = "content-type";

  /** Confluent wire format: magic byte, schema id, Avro binary. */
  public static final String AVRO = "application/vnd.confluent.avro";

  /** W3C trace context, where the producer has one. */
  public static final String TRACEPARENT = "traceparent";

  /** SHA-256 of the schema's parsing canonical form, lower-case hex. */
  public static final String SCHEMA_FINGERPRINT = "schema-fingerprint";

  /** {@code Chunk.session}. */
  public static final String SESSION = "session";

  /** {@code Image.isa}. */
  public static final String ISA = "isa";

  private Headers() {}
}
