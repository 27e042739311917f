package dev.retstack.service.ingest;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Where Kafka is and how to speak to it. The properties go to every client as they are (security,
 * time-outs, ...); what exactness rests on is set after them and cannot be overridden.
 *
 * @param bootstrap host:port[,host:port...]
 * @param properties Kafka client properties, without any prefix
 */
public record KafkaSettings(String bootstrap, Map<String, String> properties) {
  /** Prefix of system properties and configuration keys that are passed through to Kafka. */
  public static final String PASSTHROUGH = "kafka.";

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

  /** Takes every {@code kafka.*} entry of {@code source} with the prefix removed. */
  public static KafkaSettings of(String bootstrap, Map<?, ?> source) {
    Map<String, String> taken = new LinkedHashMap<>();
    source.forEach(
        (key, value) -> {
          String name = String.valueOf(key);
          if (name.startsWith(PASSTHROUGH) && !name.equals("kafka.bootstrap.servers")) {
            taken.put(name.substring(PASSTHROUGH.length()), String.valueOf(value));
          }
        });
    return new KafkaSettings(bootstrap, taken);
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

  /** Configuration of a consumer that never commits by itself. */
  public Map<String, Object> consumer() {
    Map<String, Object> config = base();
    config.putIfAbsent(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, String.valueOf(4 << 20));
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    // "none" kills a stream whose start offset is set by hand: it polls before it seeks
    config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    return config;
  }

  private Map<String, Object> base() {
    Map<String, Object> config = new LinkedHashMap<>(properties);
    config.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    return config;
  }
}
