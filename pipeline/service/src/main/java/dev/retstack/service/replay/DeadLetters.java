package dev.retstack.service.replay;

import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.aggregate.DerivedRecords;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.ingest.TopicAdmin;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The records that the pipeline refused: reads them, and puts them back as they were. Reading is
 * outside of any group and changes nothing; only committed letters are seen, so each is there once.
 */
public final class DeadLetters {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration KAFKA_PATIENCE = Duration.ofSeconds(60);

  /** Headers of the letter itself, which stand before those of the record that was refused. */
  private static final int OWN_HEADERS = 2;

  private DeadLetters() {}

  /**
   * A refused record.
   *
   * @param offset of the letter in the dead-letters topic: its name
   * @param letter where it came from, why it was refused, and its bytes
   * @param headers of the record that was refused
   */
  public record Letter(long offset, DeadLetter letter, List<Header> headers) {
    public Letter {
      headers = List.copyOf(headers);
    }

    /** The key that it had. */
    public byte[] key() {
      return bytes(letter.getKey());
    }

    /** The value that it had. */
    public byte[] value() {
      return bytes(letter.getValue());
    }

    /** Whether its record was too large to be in it. */
    public boolean lacksRecord() {
      return letter.getReason().endsWith(DerivedRecords.LEFT_OUT);
    }

    private static byte[] bytes(ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return bytes;
    }
  }

  /** Takes a letter. */
  public interface Reader {
    void take(Letter letter);
  }

  /**
   * Hands over every letter up to the present end of the topic, oldest first.
   *
   * @throws IOException where Kafka does not answer
   */
  public static void read(KafkaSettings kafka, Topics topics, Reader reader)
      throws IOException, InterruptedException {
    Map<TopicPartition, Long> ends;
    try (TopicAdmin admin = new TopicAdmin(kafka, KAFKA_PATIENCE)) {
      ends = admin.endOffsets(topics.deadLetters());
    }
    Map<String, Object> config = kafka.consumer();
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    try (var consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = List.copyOf(ends.keySet());
      consumer.assign(partitions);
      // a transaction that is still open ends what can be read
      consumer.endOffsets(partitions).forEach((p, end) -> ends.merge(p, end, Math::min));
      consumer.seekToBeginning(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          if (record.offset() < ends.get(new TopicPartition(record.topic(), record.partition()))) {
            reader.take(letter(record));
          }
        }
      }
    } catch (KafkaException e) {
      throw new IOException(
          "cannot read topic %s on Kafka at %s: %s"
              .formatted(topics.deadLetters(), kafka.bootstrap(), e.getMessage()),
          e);
    }
  }

  private static Letter letter(ConsumerRecord<byte[], byte[]> record) throws IOException {
    List<Header> headers = new ArrayList<>();
    record.headers().forEach(headers::add);
    int own = Math.min(OWN_HEADERS, headers.size());
    try {
      return new Letter(
          record.offset(),
          ConfluentFrame.decode(record.value(), DeadLetter.class),
          headers.subList(own, headers.size()));
    } catch (CorruptChunkException e) {
      throw new IOException(
          "record %d of topic %s is no dead letter: %s"
              .formatted(record.offset(), record.topic(), e.getMessage()),
          e);
    }
  }

  /**
   * Puts records into a topic as they were: key, value, headers; into the partition they came from
   * where it is the topic they came from, so that cores keep their partition. In the order given.
   *
   * @return where each went
   * @throws IOException where Kafka refuses one: those before it are there
   */
  public static List<RecordMetadata> reinject(
      KafkaSettings kafka, List<Letter> letters, String into)
      throws IOException, InterruptedException {
    List<RecordMetadata> sent = new ArrayList<>();
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (Letter letter : letters) {
        boolean home = into.equals(letter.letter().getTopic());
        Integer partition = home ? letter.letter().getPartition() : null;
        byte[] key = letter.key().length == 0 ? null : letter.key();
        sent.add(
            producer
                .send(new ProducerRecord<>(into, partition, key, letter.value(), letter.headers()))
                .get());
      }
    } catch (ExecutionException e) {
      throw refused(into, sent.size(), e.getCause());
    } catch (KafkaException e) {
      throw refused(into, sent.size(), e);
    }
    return sent;
  }

  private static IOException refused(String into, int sent, Throwable cause) {
    return new IOException(
        "cannot put a record into %s after %d: %s".formatted(into, sent, cause.getMessage()),
        cause);
  }
}
