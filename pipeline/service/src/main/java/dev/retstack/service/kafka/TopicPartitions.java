package dev.retstack.service.kafka;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The partitions of a topic, as a consumer of no group assigns them to itself. */
public final class TopicPartitions {
  /** A broker learns of a new topic within milliseconds; one that starts takes seconds. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private TopicPartitions() {}

  /**
   * All partitions of a topic that was created. Another broker than the one that created it may not
   * know it yet; that is waited for.
   *
   * @throws UnknownTopicOrPartitionException where no broker knows the topic after half a minute
   * @throws TimeoutException where no broker answers
   */
  public static List<TopicPartition> of(Consumer<?, ?> consumer, String topic) {
    return of(consumer, topic, PATIENCE);
  }

  /** All partitions of a topic, waited for this long instead of half a minute. */
  public static List<TopicPartition> of(Consumer<?, ?> consumer, String topic, Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      List<PartitionInfo> found = consumer.partitionsFor(topic, patience);
      if (!found.isEmpty()) {
        return found.stream().map(info -> new TopicPartition(topic, info.partition())).toList();
      }
      if (System.nanoTime() > deadline) {
        throw new UnknownTopicOrPartitionException(
            "no broker knows the topic %s after %d ms".formatted(topic, patience.toMillis()));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(50);
      } catch (InterruptedException e) {
        throw new InterruptException(e);
      }
    }
  }
}
