package dev.retstack.service.window;

import dev.retstack.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/**
 * Consumers for windows of the log. One that a question is done with waits for the next question: a
 * new one costs connections, metadata and some 10 ms. For all threads.
 */
public final class LogConsumers implements AutoCloseable {
  /** How long a question waits for Kafka. */
  static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Consumers that wait at most; as many more as there are questions are made and closed again. */
  private static final int IDLE_MAX = 4;

  /** One batch of a producer, or a few small ones. */
  private static final int FETCH_BYTES = 64 << 10;

  private final Map<String, Object> config;
  private final Deque<KafkaConsumer<byte[], byte[]>> idle = new ArrayDeque<>();
  private boolean closed;

  /** None so far. */
  public LogConsumers(KafkaSettings kafka) {
    config = kafka.consumer();
    config.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, FETCH_BYTES);
    config.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 10);
    config.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) PATIENCE.toMillis());
    config.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) PATIENCE.toMillis());
  }

  /** A consumer without partitions, for one thread until it is given back or closed. */
  KafkaConsumer<byte[], byte[]> take() {
    synchronized (idle) {
      if (!idle.isEmpty()) {
        return idle.pop(); // the one that was used last: its connections are open for sure
      }
    }
    return KafkaSettings.open(config);
  }

  /** The consumer is as it was taken, and nothing failed with it. */
  void giveBack(KafkaConsumer<byte[], byte[]> consumer) {
    consumer.unsubscribe();
    synchronized (idle) {
      if (!closed && idle.size() < IDLE_MAX) {
        idle.push(consumer);
        return;
      }
    }
    close(consumer);
  }

  static void close(KafkaConsumer<byte[], byte[]> consumer) {
    consumer.close(CloseOptions.timeout(Duration.ZERO));
  }

  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      idle.forEach(LogConsumers::close);
      idle.clear();
    }
  }
}
