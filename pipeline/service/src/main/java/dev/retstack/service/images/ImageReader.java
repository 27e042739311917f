package dev.retstack.service.images;

import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads single records of the images topic, one after the other, with its own thread and consumer.
 * Both start with the first request. Searches run at the same time.
 */
public final class ImageReader implements ImageSource, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ImageReader.class);
  private static final Duration POLL = Duration.ofMillis(500);

  private final KafkaSettings kafka;
  private final String topic;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("retstack-images-again").factory());
  private final ExecutorService searchThread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("retstack-images-search").factory());
  private volatile KafkaConsumer<byte[], byte[]> consumer;
  private volatile boolean closed;

  /** Reads nothing yet. */
  public ImageReader(KafkaSettings kafka, String topic) {
    this.kafka = kafka;
    this.topic = topic;
  }

  @Override
  public CompletionStage<Optional<ImageRecord>> read(ImagePlace place) {
    return begin(thread, () -> at(place));
  }

  @Override
  public CompletionStage<Map<String, ImageRecord>> search(
      Set<String> buildIds, Map<String, String> claimed) {
    return begin(
        searchThread, () -> new ImageSearch(kafka, topic, () -> closed).search(buildIds, claimed));
  }

  private <T> CompletionStage<T> begin(ExecutorService where, Supplier<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    try {
      where.execute(
          () -> {
            try {
              done.complete(work.get());
            } catch (WakeupException _) {
              log.debug("images are not read: closed");
            } catch (RuntimeException e) {
              done.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException _) {
      log.debug("images are not read: closed");
    }
    return done;
  }

  private Optional<ImageRecord> at(ImagePlace place) {
    if (closed) {
      throw new WakeupException();
    }
    if (consumer == null) {
      consumer = KafkaSettings.open(settings());
    }
    TopicPartition partition = new TopicPartition(topic, place.partition());
    consumer.assign(List.of(partition));
    consumer.seek(partition, place.offset());
    while (!closed) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        consumer.unsubscribe(); // what was fetched beyond it is let go
        return record.offset() == place.offset() ? image(record) : Optional.empty();
      }
      if (hasPassed(partition, place)) {
        return Optional.empty();
      }
    }
    throw new WakeupException();
  }

  /** Whether there is nothing at this place: the consumer stands elsewhere, and read nothing. */
  private boolean hasPassed(TopicPartition partition, ImagePlace place) {
    try {
      return consumer.position(partition, POLL) != place.offset();
    } catch (TimeoutException _) {
      return false; // Kafka is away
    }
  }

  private static Optional<ImageRecord> image(ConsumerRecord<byte[], byte[]> record) {
    try {
      return Optional.of(ImageRecord.of(record));
    } catch (CorruptChunkException _) {
      return Optional.empty(); // another record: the topic was made anew
    }
  }

  /** One batch of records is fetched at a time, however long: the least that a broker gives. */
  private Map<String, Object> settings() {
    Map<String, Object> settings = kafka.consumer();
    settings.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "1");
    settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "1");
    return settings;
  }

  @Override
  public void close() {
    closed = true;
    thread.execute(
        () -> {
          if (consumer != null) {
            consumer.close();
          }
        });
    thread.shutdown();
    searchThread.shutdown();
    if (consumer != null) {
      consumer.wakeup();
    }
    try {
      if (!thread.awaitTermination(10, TimeUnit.SECONDS)
          || !searchThread.awaitTermination(10, TimeUnit.SECONDS)) {
        log.warn("the reader of images does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
