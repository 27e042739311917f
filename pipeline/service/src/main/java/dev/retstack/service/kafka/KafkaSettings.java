package dev.retstack.service.kafka;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The address of Kafka and how to speak to it. The properties go to every client unchanged
 * (security, time-outs, ...). Settings that exactness depends on are set after them and cannot be
 * overridden.
 *
 * @param bootstrap host:port[,host:port...]
 * @param properties Kafka client properties, without any prefix
 */
public record KafkaSettings(String bootstrap, Map<String, String> properties) {
  /** Settings for members of a group alone; other consumers may refuse them. */
  private static final Set<String> OF_MEMBERS =
      Set.of(
          ConsumerConfig.GROUP_PROTOCOL_CONFIG,
          ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG,
          ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
          ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
          ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG,
          ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG);

  public KafkaSettings {
    if (bootstrap.isBlank()) {
      throw new IllegalArgumentException(
          "no Kafka address: give host:port, or set KAFKA_BOOTSTRAP_SERVERS");
    }
    properties = Map.copyOf(properties);
  }

  /** Settings without further properties. */
  public static KafkaSettings of(String bootstrap) {
    return new KafkaSettings(bootstrap, Map.of());
  }

  /** Configuration of an admin client. */
  public Map<String, Object> admin() {
    Map<String, Object> config = base();
    config.putIfAbsent(AdminClientConfig.RETRY_BACKOFF_MS_CONFIG, "50");
    return config;
  }

  /**
   * Configuration of an idempotent producer that waits for all replicas. Compression stays off:
   * chunks are packed already, and not every client reads every compression.
   */
  public Map<String, Object> producer() {
    Map<String, Object> config = base();
    config.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, "20");
    config.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, String.valueOf(256 << 10));
    config.putIfAbsent(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, String.valueOf(4 << 20));
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
    return config;
  }

  /** What assigns partitions to members: Kafka's {@code group.protocol}, classic by default. */
  public GroupProtocol groupProtocol() {
    String set = properties.get(ConsumerConfig.GROUP_PROTOCOL_CONFIG);
    return set == null ? GroupProtocol.CLASSIC : GroupProtocol.of(set);
  }

  /** These settings with this group protocol. */
  public KafkaSettings withGroupProtocol(GroupProtocol protocol) {
    Map<String, String> changed = new LinkedHashMap<>(properties);
    changed.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, protocol.word());
    return new KafkaSettings(bootstrap, changed);
  }

  /**
   * These settings for clients with this end of their id; the user's client id stands before it.
   */
  public KafkaSettings named(String id) {
    Map<String, String> changed = new LinkedHashMap<>(properties);
    changed.merge(CommonClientConfigs.CLIENT_ID_CONFIG, id, (given, _) -> given + "-" + id);
    return new KafkaSettings(bootstrap, changed);
  }

  /**
   * Configuration of a consumer that is a member of a group. A member that comes or goes moves the
   * fewest partitions, under either protocol.
   *
   * @throws IllegalArgumentException where settings do not go together, with the cure
   */
  public Map<String, Object> member() {
    GroupProtocol protocol = groupProtocol();
    properties.forEach(protocol::check);
    Map<String, Object> config = consumer();
    for (String key : OF_MEMBERS) {
      if (properties.containsKey(key)) {
        config.put(key, properties.get(key));
      }
    }
    config.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, protocol.word());
    if (protocol == GroupProtocol.CLASSIC) {
      config.put(
          ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
          CooperativeStickyAssignor.class.getName());
    }
    return config;
  }

  /** Configuration of a consumer of no group, which never commits by itself. */
  public Map<String, Object> consumer() {
    Map<String, Object> config = base();
    config.keySet().removeAll(OF_MEMBERS);
    config.putIfAbsent(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, String.valueOf(4 << 20));
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    // "none" kills a stream whose start offset is set by hand: it polls before it seeks
    config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    // a topic that a mere question creates would have the broker's settings, not ours
    config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    return config;
  }

  /** A consumer of bytes. */
  public static KafkaConsumer<byte[], byte[]> open(Map<String, Object> config) {
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private Map<String, Object> base() {
    Map<String, Object> config = new LinkedHashMap<>(properties);
    config.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    return config;
  }
}
