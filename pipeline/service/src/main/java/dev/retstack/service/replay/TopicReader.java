package dev.retstack.service.replay;

import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.ingest.KafkaSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The values of a topic up to where it ends, outside of any group; changes nothing there. */
final class TopicReader {
  private static final Duration POLL = Duration.ofMillis(200);

  private TopicReader() {}

  /** Takes a value, or refuses it. */
  interface Entry {
    void write(byte[] value) throws IOException, CorruptChunkException;
  }

  /** Hands over every value up to these ends; returns how many were refused. */
  static long read(KafkaSettings kafka, Map<TopicPartition, Long> ends, Entry entry)
      throws IOException {
    long refused = 0;
    try (var consumer =
        new KafkaConsumer<>(
            kafka.consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = List.copyOf(ends.keySet());
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          long end = ends.get(new TopicPartition(record.topic(), record.partition()));
          if (record.offset() < end && record.value() != null) {
            refused += write(entry, record.value());
          }
        }
      }
    } catch (KafkaException e) {
      throw new IOException("cannot read from Kafka at " + kafka.bootstrap(), e);
    }
    return refused;
  }

  private static int write(Entry entry, byte[] value) throws IOException {
    try {
      entry.write(value);
      return 0;
    } catch (CorruptChunkException e) {
      return 1;
    }
  }
}
