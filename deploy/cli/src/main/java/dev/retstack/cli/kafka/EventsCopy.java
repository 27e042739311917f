package dev.retstack.cli.kafka;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.ingest.KafkaSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Copies the images and events topics into a recorded trace, up to where they end when the copy
 * begins. Refused records are counted and left out: the pipeline has them as dead letters.
 */
public final class EventsCopy implements AutoCloseable {
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Topics topics;
  private final TraceFileWriter writer;
  private final Set<String> seen = new HashSet<>();
  private long images;
  private long chunks;
  private long records;
  private long refused;

  /** What was copied. */
  public record Copied(long images, long chunks, long records, long refused) {}

  private interface Sink<T> {
    void accept(T value) throws IOException;
  }

  public EventsCopy(KafkaSettings kafka, Topics topics, TraceFileWriter writer) {
    this.consumer =
        new KafkaConsumer<>(
            kafka.consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    this.topics = topics;
    this.writer = writer;
  }

  /**
   * Copies and returns what it was.
   *
   * @throws IOException where a topic is missing, Kafka does not answer, or the file cannot be
   *     written
   */
  public Copied run() throws IOException {
    try {
      // an image is acknowledged before its first chunk: whoever is in events now has an image
      // there
      Map<TopicPartition, Long> eventsEnd = ends(topics.events());
      copy(ends(topics.images()), Image.class, this::write);
      copy(eventsEnd, Chunk.class, this::write);
    } catch (KafkaException e) {
      throw new IOException("kafka: " + e.getMessage(), e);
    }
    return new Copied(images, chunks, records, refused);
  }

  private void write(Image image) throws IOException {
    if (seen.add(image.getBuildId())) {
      writer.write(image);
      images++;
    }
  }

  private void write(Chunk chunk) throws IOException {
    try {
      Chunks.check(chunk);
    } catch (CorruptChunkException e) {
      refused++;
      return;
    }
    writer.write(chunk);
    chunks++;
    records += chunk.getRecordCount();
  }

  private Map<TopicPartition, Long> ends(String topic) throws IOException {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic, ANSWER).stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .toList();
    if (partitions.isEmpty()) {
      throw new IOException("kafka has no topic " + topic + ": check --prefix");
    }
    return consumer.endOffsets(partitions, ANSWER);
  }

  private <T extends SpecificRecord> void copy(
      Map<TopicPartition, Long> ends, Class<T> type, Sink<T> sink) throws IOException {
    consumer.assign(ends.keySet());
    consumer.seekToBeginning(ends.keySet());
    while (!reached(ends)) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        long end = ends.get(new TopicPartition(record.topic(), record.partition()));
        if (record.offset() < end && record.value() != null) {
          take(record, type, sink);
        }
      }
    }
  }

  private <T extends SpecificRecord> void take(
      ConsumerRecord<byte[], byte[]> record, Class<T> type, Sink<T> sink) throws IOException {
    T value;
    try {
      value = ConfluentFrame.decode(record.value(), type);
    } catch (CorruptChunkException e) {
      refused++;
      return;
    }
    sink.accept(value);
  }

  private boolean reached(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey(), ANSWER) >= end.getValue());
  }

  @Override
  public void close() {
    consumer.close();
  }
}
