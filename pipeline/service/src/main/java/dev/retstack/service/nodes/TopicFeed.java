package dev.retstack.service.nodes;

import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.Reason;
import dev.retstack.service.kafka.TopicLog;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a small topic of one partition and writes to it, on its own thread until closed. If Kafka
 * is away it waits and does not fail; then it begins the topic again.
 */
abstract class TopicFeed extends KafkaThread {
  /** Longest wait for records, so that there is time to say something. */
  static final Duration POLL = Duration.ofMillis(250);

  /** Nobody waits longer than this for a broker that is away: the next word replaces this one. */
  private static final String MAX_BLOCK_MILLIS = "2000";

  /** Kafka took the last word. */
  private static final long HEARD = Long.MIN_VALUE;

  private final Logger log = LoggerFactory.getLogger(getClass());
  private final KafkaSettings kafka;
  private final String topic;
  private final AtomicLong silentSince = new AtomicLong(HEARD);

  /**
   * A feed that does not run yet.
   *
   * @param name of its thread
   * @param pause until it begins anew where Kafka failed
   * @param patience longest wait for its end
   */
  TopicFeed(KafkaSettings kafka, String topic, String name, Duration pause, Duration patience) {
    super(name, "follow topic " + topic, pause, patience);
    this.kafka = kafka;
    this.topic = topic;
  }

  /**
   * Reads the topic, and says what there is to say, until closed.
   *
   * @param log stands at the beginning of {@link #partition}
   * @throws org.apache.kafka.common.KafkaException makes it begin anew
   */
  abstract void follow(TopicLog log, KafkaProducer<byte[], byte[]> producer);

  /** Its last word, when it was closed. */
  void leave(KafkaProducer<byte[], byte[]> producer) {
    producer.close(Duration.ZERO);
  }

  final String topic() {
    return topic;
  }

  /** The topic's only one. */
  final List<TopicPartition> partition() {
    return List.of(NodeRecords.partition(topic));
  }

  /** Says this, and does not wait; where that fails the next word replaces this one. */
  final void send(KafkaProducer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
    var _ = producer.send(record, (_, failure) -> sent(failure));
  }

  /** One line when Kafka takes nothing any more, and one when it does. */
  private void sent(Exception failure) {
    long now = System.nanoTime();
    if (failure == null) {
      long since = silentSince.getAndSet(HEARD);
      if (since != HEARD) {
        log.warn(
            "topic {} takes records again, after {} s",
            topic,
            Duration.ofNanos(now - since).toSeconds());
      }
    } else if (!isClosed() && silentSince.compareAndSet(HEARD, now)) {
      log.warn(
          "topic {} takes no records: {} (tries continue, and success is logged)",
          topic,
          Reason.of(failure));
    }
  }

  @Override
  final void work() {
    try (TopicLog reader = new TopicLog(kafka.consumer(), TopicLog.FOREVER);
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(settings(), new ByteArraySerializer(), new ByteArraySerializer())) {
      reader.begin(partition());
      follow(reader, producer);
      leave(producer);
    }
  }

  private Map<String, Object> settings() {
    Map<String, Object> settings = new HashMap<>(kafka.producer());
    settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MILLIS);
    return settings;
  }
}
