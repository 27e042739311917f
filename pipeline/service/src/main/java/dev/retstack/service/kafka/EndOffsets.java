package dev.retstack.service.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * The ends of a topic's partitions, the last or the first, asked for without blocking. Callers
 * within a second share an answer, so that they cannot overload the brokers. Safe for use by
 * several threads.
 */
public final class EndOffsets implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

  private final Admin admin;
  private final IsolationLevel isolation;
  private final Map<TopicPartition, OffsetSpec> question = new HashMap<>();
  private CompletableFuture<Optional<Map<Integer, Long>>> last;
  private long askedNanos;

  /** The first offsets that the partitions still have; asks for nothing yet. */
  public static EndOffsets first(KafkaSettings kafka, String topic, int partitionCount) {
    return new EndOffsets(
        kafka, topic, partitionCount, IsolationLevel.READ_UNCOMMITTED, OffsetSpec.earliest());
  }

  /**
   * Asks for nothing yet.
   *
   * @param isolation whether what an open transaction wrote counts
   */
  public EndOffsets(
      KafkaSettings kafka, String topic, int partitionCount, IsolationLevel isolation) {
    this(kafka, topic, partitionCount, isolation, OffsetSpec.latest());
  }

  private EndOffsets(
      KafkaSettings kafka,
      String topic,
      int partitionCount,
      IsolationLevel isolation,
      OffsetSpec which) {
    this.isolation = isolation;
    this.admin = Admin.create(kafka.admin());
    for (int p = 0; p < partitionCount; p++) {
      question.put(new TopicPartition(topic, p), which);
    }
  }

  /**
   * The asked offset of each partition; the end offset is behind the last record. Empty where Kafka
   * did not answer in time.
   */
  public synchronized CompletionStage<Optional<Map<Integer, Long>>> ask() {
    long now = System.nanoTime();
    boolean fresh = last != null && (!last.isDone() || now - askedNanos < FRESH_NANOS);
    if (!fresh) {
      askedNanos = now;
      var options = new ListOffsetsOptions(isolation).timeoutMs((int) PATIENCE.toMillis());
      last =
          admin
              .listOffsets(question, options)
              .all()
              .toCompletionStage()
              .thenApply(
                  found -> {
                    Map<Integer, Long> ends = new TreeMap<>();
                    found.forEach(
                        (partition, end) -> ends.put(partition.partition(), end.offset()));
                    return Optional.of(ends);
                  })
              .exceptionally(_ -> Optional.empty())
              .toCompletableFuture();
    }
    return last;
  }

  /** Asks again even within a second, for callers that may have read on meanwhile. */
  public synchronized CompletionStage<Optional<Map<Integer, Long>>> askAgain() {
    last = null;
    return ask();
  }

  @Override
  public void close() {
    admin.close(Duration.ZERO);
  }
}
