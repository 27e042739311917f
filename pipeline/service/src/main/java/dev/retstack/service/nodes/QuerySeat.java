package dev.retstack.service.nodes;

import dev.retstack.service.identity.GroupRoll;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of a member that takes no partitions, in a group beside that of the job: there Kafka
 * says that it is a member. It reads nothing of the small topic that the group is about.
 */
public final class QuerySeat implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(QuerySeat.class);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration PAUSE = Duration.ofSeconds(2);

  private final Map<String, Object> config;
  private final String topic;
  private final Thread thread;
  private volatile boolean closed;

  /** A seat that is not taken yet; the client id of the settings names the member's key. */
  public QuerySeat(KafkaSettings kafka, String topic, String group) {
    this.config = kafka.member();
    config.put(ConsumerConfig.GROUP_ID_CONFIG, GroupRoll.beside(group));
    this.topic = topic;
    this.thread = Thread.ofPlatform().daemon().name("retstack-seat").unstarted(this::run);
  }

  /** Takes it. */
  public void start() {
    thread.start();
  }

  private void run() {
    while (!closed) {
      try (var consumer =
          new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
        consumer.subscribe(List.of(topic));
        while (!closed) {
          consumer.poll(POLL);
          consumer.pause(consumer.assignment());
        }
      } catch (KafkaException e) {
        log.warn("cannot join a group of members: {}; trying again", Reason.of(e));
        pause();
      }
    }
  }

  private void pause() {
    try {
      Thread.sleep(PAUSE);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join(PAUSE.plus(PAUSE));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
