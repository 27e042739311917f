package dev.retstack.service.support;

import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicPartitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads what a reader of committed records sees in a topic now. */
public final class TopicReader {
  private TopicReader() {}

  /** All committed records up to the present end, partition by partition. */
  public static List<ConsumerRecord<byte[], byte[]>> records(KafkaSettings kafka, String topic) {
    Map<String, Object> config = kafka.consumer();
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = TopicPartitions.of(consumer, topic);
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        consumer.poll(Duration.ofMillis(100)).forEach(found::add);
      }
    }
    return found;
  }

  /** The values alone. */
  public static List<byte[]> values(KafkaSettings kafka, String topic) {
    return records(kafka, topic).stream().map(ConsumerRecord::value).toList();
  }
}
