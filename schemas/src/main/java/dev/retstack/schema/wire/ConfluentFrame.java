package dev.retstack.schema.wire;

import dev.retstack.schema.codec.CorruptChunkException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;

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

  static {
    AvroGuard.trustOwnClasses();
  }

  private ConfluentFrame() {}

  /** The message of a record, under the id of its own schema. */
  public static byte[] encode(SpecificRecord record) {
    Schema schema = record.getSchema();
    ByteArrayOutputStream out = new ByteArrayOutputStream(256);
    out.writeBytes(
        ByteBuffer.allocate(HEADER_BYTES).put(MAGIC).putInt(SchemaIds.idOf(schema)).array());
    try {
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
      new SpecificDatumWriter<SpecificRecord>(schema).write(record, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail", e);
    }
    return out.toByteArray();
  }

  /**
   * The record in a message.
   *
   * @throws CorruptChunkException where the message is too long or too short, has another magic, an
   *     id that is unknown or not of this type, or is not exactly one datum of that schema
   */
  public static <T extends SpecificRecord> T decode(byte[] message, Class<T> type)
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
    Schema reader = SpecificData.get().getSchema(type);
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
    AvroGuard.check(reader, message, HEADER_BYTES, message.length);
    try {
      BinaryDecoder decoder =
          DecoderFactory.get()
              .binaryDecoder(message, HEADER_BYTES, message.length - HEADER_BYTES, null);
      return type.cast(new SpecificDatumReader<T>(reader).read(null, decoder));
    } catch (IOException | AvroRuntimeException e) {
      throw new CorruptChunkException(reader.getName() + " does not decode: " + e.getMessage(), e);
    }
  }
}
