package dev.retstack.service.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Reads partitions from their beginning to an end, and then follows them. It belongs to no group
 * and changes nothing there. For one thread; {@link #wakeup} is for all.
 */
public final class TopicLog implements AutoCloseable {
  /** As patience: a Kafka that is away is waited for. */
  public static final Duration FOREVER = Duration.ofDays(36_500);

  private static final Duration POLL = Duration.ofMillis(250);

  /** Takes what came, in the order of each partition. */
  public interface Taker<E extends Exception> {
    void take(ConsumerRecords<byte[], byte[]> records) throws E;
  }

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Duration patience;

  /**
   * Reads nothing yet.
   *
   * @param config of a consumer: {@link KafkaSettings#consumer}
   * @param patience longest wait for an answer or for a record
   */
  public TopicLog(Map<String, Object> config, Duration patience) {
    this.consumer = KafkaSettings.open(config);
    this.patience = patience;
  }

  /** Whether a broker knows the topic. */
  public boolean has(String topic) {
    return !consumer.partitionsFor(topic, patience).isEmpty();
  }

  /** The partitions of a topic: {@link TopicPartitions#of}. */
  public List<TopicPartition> partitions(String topic) {
    return TopicPartitions.of(consumer, topic);
  }

  /** The partitions of a topic, waited for this long. */
  public List<TopicPartition> partitions(String topic, Duration patience) {
    return TopicPartitions.of(consumer, topic, patience);
  }

  /** First offsets that the log still has. */
  public Map<TopicPartition, Long> begins(Collection<TopicPartition> partitions) {
    return consumer.beginningOffsets(partitions);
  }

  /** Offsets behind the last record that this reader may see. */
  public Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
    return consumer.endOffsets(partitions);
  }

  /** Offsets behind the last record that this reader may see, waited for this long. */
  public Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions, Duration patience) {
    return consumer.endOffsets(partitions, patience);
  }

  /** Goes to the beginning of these partitions, and leaves others. */
  public void begin(Collection<TopicPartition> partitions) {
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Goes to these offsets, and leaves other partitions. */
  public void begin(Map<TopicPartition, Long> offsets) {
    consumer.assign(offsets.keySet());
    offsets.forEach(consumer::seek);
  }

  /** Goes to the present end of these partitions, and leaves others. */
  public void beginAtEnd(Collection<TopicPartition> partitions) {
    consumer.assign(partitions);
    consumer.seekToEnd(partitions);
    partitions.forEach(consumer::position); // now, not at the first poll
  }

  /**
   * Reads to these ends. The last records may stand behind them.
   *
   * @throws TimeoutException where nothing came for longer than the patience
   * @throws WakeupException once closed
   */
  public <E extends Exception> void readTo(
      Map<TopicPartition, Long> ends, BooleanSupplier closed, Taker<E> taker) throws E {
    Map<TopicPartition, Long> left = new HashMap<>(ends);
    long since = System.nanoTime();
    while (true) {
      if (left.entrySet().removeIf(end -> hasReached(end.getKey(), end.getValue()))) {
        since = System.nanoTime();
      }
      if (left.isEmpty()) {
        return;
      }
      if (closed.getAsBoolean()) {
        throw new WakeupException();
      }
      ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
      if (!records.isEmpty()) {
        taker.take(records);
        since = System.nanoTime();
      } else if (System.nanoTime() - since > patience.toNanos()) {
        throw new TimeoutException(
            "nothing came for %d s, and these ends are not reached: %s"
                .formatted(patience.toSeconds(), left));
      }
    }
  }

  private boolean hasReached(TopicPartition partition, long end) {
    try {
      return consumer.position(partition, POLL) >= end;
    } catch (TimeoutException _) {
      return false; // Kafka is away
    }
  }

  /** Follows the partitions: what came within this time. */
  public ConsumerRecords<byte[], byte[]> poll(Duration wait) {
    return consumer.poll(wait);
  }

  /** Ends a wait: what waits throws {@link WakeupException}. For any thread. */
  public void wakeup() {
    consumer.wakeup();
  }

  @Override
  public void close() {
    consumer.close();
  }
}
