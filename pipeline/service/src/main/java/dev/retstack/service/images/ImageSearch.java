package dev.retstack.service.images;

import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicLog;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the images topic from its start to its present end, for some images. Keys identify their
 * records, so only these are unpacked; one fetch at a time is in memory.
 */
final class ImageSearch {
  private static final Logger log = LoggerFactory.getLogger(ImageSearch.class);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final int FETCH_BYTES = 1 << 20;

  private final KafkaSettings kafka;
  private final String topic;
  private final BooleanSupplier closed;

  /** Searches this topic; ends within half a second after {@code closed}. */
  ImageSearch(KafkaSettings kafka, String topic, BooleanSupplier closed) {
    this.kafka = kafka;
    this.topic = topic;
    this.closed = closed;
  }

  /**
   * The first record of each of these images that is in the topic; a Kafka that is away is waited
   * for.
   *
   * @param claimed by build-id, the digest of the only content that counts
   * @throws WakeupException once closed
   */
  Map<String, ImageRecord> search(Set<String> buildIds, Map<String, String> claimed) {
    long start = System.nanoTime();
    Map<String, ImageRecord> found = new HashMap<>();
    try (TopicLog reader = new TopicLog(settings(), TopicLog.FOREVER)) {
      Map<TopicPartition, Long> ends = ends(reader);
      reader.begin(ends.keySet());
      reader.readTo(
          ends,
          closed,
          records -> records.forEach(record -> take(record, buildIds, claimed, found)));
    }
    log.info(
        "topic {} searched for {} images in {} ms: {} found",
        topic,
        buildIds.size(),
        Duration.ofNanos(System.nanoTime() - start).toMillis(),
        found.size());
    return found;
  }

  private Map<TopicPartition, Long> ends(TopicLog reader) {
    while (true) {
      if (closed.getAsBoolean()) {
        throw new WakeupException();
      }
      try {
        return reader.ends(reader.partitions(topic, POLL), POLL);
      } catch (TimeoutException | UnknownTopicOrPartitionException _) {
        log.debug("topic {} does not answer yet", topic);
      }
    }
  }

  private static void take(
      ConsumerRecord<byte[], byte[]> record,
      Set<String> wanted,
      Map<String, String> claimed,
      Map<String, ImageRecord> found) {
    String buildId = ImageKey.buildId(record.key());
    if (!wanted.contains(buildId) || found.containsKey(buildId) || record.value() == null) {
      return;
    }
    try {
      ImageRecord image = ImageRecord.of(record);
      if (claimed.getOrDefault(buildId, image.digest()).equals(image.digest())) {
        found.put(buildId, image);
      }
    } catch (CorruptChunkException e) {
      log.debug("image {} at {} is not readable: {}", buildId, record.offset(), e.getMessage());
    }
  }

  private Map<String, Object> settings() {
    Map<String, Object> settings = kafka.consumer();
    settings.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, String.valueOf(FETCH_BYTES));
    settings.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, String.valueOf(FETCH_BYTES));
    return settings;
  }
}
