package dev.retstack.service.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Image;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Headers;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.schema.wire.SchemaIds;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A Kafka record that every tool can read: Avro in the Confluent frame, with the usual headers. */
public final class PublishedRecord {
  private static final byte[] AVRO = Headers.AVRO.getBytes(UTF_8);
  private static final Map<String, byte[]> FINGERPRINTS = new ConcurrentHashMap<>();

  /** Bytes of a record that topics accept. */
  public static final int BYTES_MAX = 4 << 20;

  /** Longest name or sentence in a record, in characters. */
  static final int TEXT_MAX = 4096;

  private PublishedRecord() {}

  /** A text as far as it is published: Kafka refuses a record of too many, and with it all. */
  static String text(String whole) {
    return whole.length() <= TEXT_MAX ? whole : whole.substring(0, TEXT_MAX) + "...";
  }

  /** A record that belongs to no session. */
  public static ProducerRecord<byte[], byte[]> of(
      String topic, Integer partition, byte[] key, AvroRecord value) {
    return described(
        new ProducerRecord<>(topic, partition, key, ConfluentFrame.encode(value)), value);
  }

  /** An image under the key of its content. */
  public static ProducerRecord<byte[], byte[]> image(String topic, Image image) {
    byte[] message = ConfluentFrame.encode(image);
    byte[] key = ImageKey.of(image.getBuildId(), message);
    return described(new ProducerRecord<>(topic, key, message), image);
  }

  private static ProducerRecord<byte[], byte[]> described(
      ProducerRecord<byte[], byte[]> record, AvroRecord value) {
    record.headers().add(Headers.CONTENT_TYPE, AVRO);
    record.headers().add(Headers.SCHEMA_FINGERPRINT, fingerprint(value.getSchema()));
    return record;
  }

  /** A record of one session. */
  public static ProducerRecord<byte[], byte[]> of(
      String topic, Integer partition, byte[] key, AvroRecord value, String session, String isa) {
    ProducerRecord<byte[], byte[]> record = of(topic, partition, key, value);
    record.headers().add(Headers.SESSION, session.getBytes(UTF_8));
    record.headers().add(Headers.ISA, isa.getBytes(UTF_8));
    return record;
  }

  private static byte[] fingerprint(Schema schema) {
    return FINGERPRINTS.computeIfAbsent(
        schema.getFullName(), _ -> SchemaIds.fingerprint(schema).getBytes(UTF_8));
  }
}
