package dev.retstack.service.transfer;

import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.publish.DerivedRecords;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The records that the pipeline refused: reads them, and puts them back unchanged. Reading is
 * outside of any group and changes nothing. Only committed letters are seen, so each is there once.
 */
public final class DeadLetters {
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
    var _ = TopicReader.read(kafka, topics.deadLetters(), record -> reader.take(letter(record)));
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
          "record %d of topic %s is not a dead letter: %s"
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
