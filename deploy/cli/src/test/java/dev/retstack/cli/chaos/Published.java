package dev.retstack.cli.chaos;

import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicPartitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a whole topic as one who sees committed records only. */
final class Published {
  private Published() {}

  /** Turns a record's value into something to compare. */
  interface Reader<T> {
    T read(byte[] value) throws Exception;
  }

  /** All records up to the present end. */
  static <T> List<T> in(KafkaSettings kafka, String topic, Reader<T> reader) throws Exception {
    Map<String, Object> settings = kafka.consumer();
    settings.put("isolation.level", "read_committed");
    List<T> found = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> all = TopicPartitions.of(consumer, topic);
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      Set<TopicPartition> left = new HashSet<>(all);
      while (!left.isEmpty()) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          found.add(reader.read(record.value()));
        }
        left.removeIf(partition -> consumer.position(partition) >= ends.get(partition));
      }
    }
    return found;
  }
}
