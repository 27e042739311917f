package dev.retstack.service.nodes;

import dev.retstack.service.identity.GroupRoll;
import dev.retstack.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/**
 * The place of a member that takes no partitions, in a group beside that of the job: there Kafka
 * says that it is a member. It reads nothing of the small topic that the group is about.
 */
public final class QuerySeat extends KafkaThread {
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration PAUSE = Duration.ofSeconds(2);

  private final Map<String, Object> config;
  private final String topic;

  /** A seat that is not taken yet; the client id of the settings names the member's key. */
  public QuerySeat(KafkaSettings kafka, String topic, String group) {
    super("retstack-seat", "join a group of members", PAUSE, PAUSE.plus(PAUSE));
    this.config = kafka.member();
    config.put(ConsumerConfig.GROUP_ID_CONFIG, GroupRoll.beside(group));
    this.topic = topic;
  }

  /** Takes it. */
  public void start() {
    begin();
  }

  @Override
  void work() {
    try (var consumer = KafkaSettings.open(config)) {
      consumer.subscribe(List.of(topic));
      while (!isClosed()) {
        consumer.poll(POLL);
        consumer.pause(consumer.assignment());
      }
    }
  }
}
