package dev.retstack.service.transfer;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.images.ImageRecord;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.kafka.TopicLog;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads topics up to the end that they have when it begins. It belongs to no group, and changes
 * nothing there.
 */
final class TopicReader {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private TopicReader() {}

  /** Takes what was read, or refuses it. */
  interface Taker<T> {
    void take(T read) throws IOException, CorruptChunkException;
  }

  /**
   * Hands over every image, then the chunks of each partition in their order.
   *
   * @return how many records were refused, or are neither
   */
  static long read(KafkaSettings kafka, Topics topics, Taker<Image> images, Taker<Chunk> chunks)
      throws IOException, InterruptedException {
    Map<TopicPartition, Long> events = ends(kafka, topics.events()); // no image of these is missed
    return readImages(kafka, topics, images)
        + read(
            kafka,
            events,
            kafka.consumer(),
            record -> chunks.take(ConfluentFrame.decode(record.value(), Chunk.class)));
  }

  /**
   * Hands over every image once.
   *
   * @return how many records were refused: no images, or another content under a build-id
   */
  static long readImages(KafkaSettings kafka, Topics topics, Taker<Image> images)
      throws IOException, InterruptedException {
    Map<String, String> digests = new HashMap<>();
    return read(
        kafka,
        ends(kafka, topics.images()),
        kafka.consumer(),
        record -> {
          ImageRecord found = ImageRecord.of(record);
          String digest = found.digest();
          String first = digests.putIfAbsent(found.image().getBuildId(), digest);
          if (first == null) {
            images.take(found.image());
          } else if (!first.equals(digest)) {
            throw new CorruptChunkException("another content came first");
          }
        });
  }

  /** Hands over every chunk; returns how many records were refused, or are none. */
  static long readChunks(KafkaSettings kafka, Topics topics, Taker<Chunk> chunks)
      throws IOException, InterruptedException {
    return read(
        kafka,
        ends(kafka, topics.events()),
        kafka.consumer(),
        record -> chunks.take(ConfluentFrame.decode(record.value(), Chunk.class)));
  }

  /** Hands over every committed record of a topic; returns how many were refused. */
  static long read(KafkaSettings kafka, String topic, Taker<ConsumerRecord<byte[], byte[]>> taker)
      throws IOException, InterruptedException {
    Map<String, Object> config = kafka.consumer();
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, IsolationLevel.READ_COMMITTED.toString());
    return read(kafka, ends(kafka, topic), config, taker);
  }

  private static Map<TopicPartition, Long> ends(KafkaSettings kafka, String topic)
      throws IOException, InterruptedException {
    try (TopicAdmin admin = new TopicAdmin(kafka, PATIENCE)) {
      return admin.endOffsets(topic);
    }
  }

  private static long read(
      KafkaSettings kafka,
      Map<TopicPartition, Long> ends,
      Map<String, Object> config,
      Taker<ConsumerRecord<byte[], byte[]>> taker)
      throws IOException {
    long[] refused = {0};
    List<TopicPartition> partitions = List.copyOf(ends.keySet());
    try (TopicLog log = new TopicLog(config, PATIENCE)) {
      log.begin(partitions);
      // a transaction that is still open ends what can be read
      log.ends(partitions).forEach((p, end) -> ends.merge(p, end, Math::min));
      log.<IOException>readTo(
          ends,
          () -> false,
          records -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
              long end = ends.get(new TopicPartition(record.topic(), record.partition()));
              if (record.offset() < end && record.value() != null) {
                refused[0] += take(taker, record);
              }
            }
          });
    } catch (KafkaException e) {
      throw new IOException(
          "cannot read topic %s on Kafka at %s: %s: check the address and that the brokers run"
              .formatted(partitions.getFirst().topic(), kafka.bootstrap(), e.getMessage()),
          e);
    }
    return refused[0];
  }

  private static <T> int take(Taker<T> taker, T read) throws IOException {
    try {
      taker.take(read);
      return 0;
    } catch (CorruptChunkException _) {
      return 1;
    }
  }
}
