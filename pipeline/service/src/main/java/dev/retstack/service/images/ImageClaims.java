package dev.retstack.service.images;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.wire.Digest;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.Reason;
import dev.retstack.service.kafka.TopicLog;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which content of an image counts for a group: the first that was used. Fleets write the images
 * topic, and compaction removes an earlier record when its content is announced again, so the order
 * there proves nothing to a member that starts later. The state topic is written by members alone:
 * its partition 0 has the digest of the content under {@code GROUP/image/DIGEST OF THE BUILD-ID}.
 */
public final class ImageClaims implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ImageClaims.class);

  /** Claims that are known at most, some 250 bytes each; the oldest give way. */
  static final int CLAIMS_MAX = 1 << 15;

  private final KafkaSettings kafka;
  private final TopicPartition partition;
  private final String prefix;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("retstack-claims").factory());
  private KafkaProducer<byte[], byte[]> producer; // of the thread

  /** Reads and writes nothing yet. */
  public ImageClaims(KafkaSettings kafka, Topics topics, String group) {
    this.kafka = kafka;
    this.partition = new TopicPartition(topics.state(), 0);
    this.prefix = group + "/image/";
  }

  /** Under which a build-id is claimed: a fleet may choose any text as one. */
  static String key(String buildId) {
    return Digest.of(buildId.getBytes(UTF_8));
  }

  /**
   * All claims, by their keys, the oldest first.
   *
   * @throws WakeupException once closed
   */
  Map<String, String> read(BooleanSupplier closed) {
    Map<String, String> claims = new LinkedHashMap<>();
    Map<String, Object> settings = kafka.consumer();
    settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, IsolationLevel.READ_UNCOMMITTED.toString());
    try (TopicLog log = new TopicLog(settings, TopicLog.FOREVER)) {
      log.begin(List.of(partition));
      log.readTo(
          log.ends(List.of(partition)),
          closed,
          records -> records.forEach(record -> take(record, claims)));
    }
    return claims;
  }

  private void take(ConsumerRecord<byte[], byte[]> record, Map<String, String> claims) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (!key.startsWith(prefix)) {
      return;
    }
    claims.remove(key.substring(prefix.length()));
    if (record.value() != null) {
      claims.put(key.substring(prefix.length()), new String(record.value(), UTF_8));
    }
  }

  /** Writes claims, and takes those away that have no value. Returns at once. */
  public void write(Map<String, String> claims) {
    thread.execute(() -> claims.forEach(this::send));
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the callback hears of a failure
  private void send(String key, String digest) {
    if (producer == null) {
      producer =
          new KafkaProducer<>(
              kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer());
    }
    producer.send(
        new ProducerRecord<>(
            partition.topic(),
            partition.partition(),
            (prefix + key).getBytes(UTF_8),
            digest == null ? null : digest.getBytes(UTF_8)),
        (_, why) -> {
          if (why != null) {
            log.warn(
                "cannot write to topic {} which content of an image counts: {}; a member that starts"
                    + " later may take another one",
                partition.topic(),
                Reason.of(why));
          }
        });
  }

  @Override
  public void close() {
    thread.execute(
        () -> {
          if (producer != null) {
            producer.close(Duration.ofSeconds(5));
          }
        });
    thread.shutdown();
    try {
      if (!thread.awaitTermination(10, TimeUnit.SECONDS)) {
        log.warn("claims of images are still being written");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
