package dev.retstack.schema.wire;

import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.avro.AvroSource;
import dev.retstack.schema.codec.CorruptChunkException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;

/**
 * The wire format that registry clients, Kafka UIs and Connect converters read:
 *
 * <pre>
 *  0        1                    5
 *  +--------+--------------------+------------------
 *  | 00     | schema id, 4 bytes | Avro binary ...
 *  | magic  | big-endian         |
 *  +--------+--------------------+------------------
 * </pre>
 */
public final class ConfluentFrame {
  /** Bytes before the Avro data. */
  public static final int HEADER_BYTES = 5;

  /** A message at most: a chunk's payload and room for everything around it. */
  public static final int MESSAGE_BYTES_MAX = 17 << 20;

  private static final byte MAGIC = 0;

  private ConfluentFrame() {}

  /** Encodes a record as a message under the id of its schema. */
  public static byte[] encode(AvroRecord record) {
    Schema schema = record.getSchema();
    ByteArrayOutputStream out = new ByteArrayOutputStream(256);
    out.writeBytes(
        ByteBuffer.allocate(HEADER_BYTES).put(MAGIC).putInt(SchemaIds.idOf(schema)).array());
    record.writeTo(out);
    return out.toByteArray();
  }

  /**
   * The record in a message.
   *
   * @throws CorruptChunkException where the message is too long or too short, has another magic, an
   *     id that is unknown or not of this type, or is not exactly one datum of that schema
   */
  public static <T extends AvroRecord> T decode(byte[] message, Class<T> type)
      throws CorruptChunkException {
    if (message == null || message.length < HEADER_BYTES || message.length > MESSAGE_BYTES_MAX) {
      throw new CorruptChunkException(
          "message of "
              + (message == null ? "no" : message.length)
              + " bytes: expected "
              + HEADER_BYTES
              + " to "
              + MESSAGE_BYTES_MAX);
    }
    if (message[0] != MAGIC) {
      throw new CorruptChunkException("first byte: expected 0, received " + (message[0] & 0xff));
    }
    T record = SchemaIds.newRecord(type);
    Schema reader = record.getSchema();
    int id = ByteBuffer.wrap(message).getInt(1);
    if (id != SchemaIds.idOf(reader)) {
      String received = SchemaIds.schemaById(id).map(Schema::getName).orElse("unknown");
      throw new CorruptChunkException(
          "schema id: expected "
              + SchemaIds.idOf(reader)
              + " ("
              + reader.getName()
              + "), received "
              + id
              + " ("
              + received
              + "); if another version wrote this topic, use another --prefix");
    }
    return AvroSource.read(record, message, HEADER_BYTES, message.length);
  }
}
