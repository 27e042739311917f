package dev.retstack.service.ingest;

import dev.retstack.schema.codec.CorruptChunkException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads single records of the images topic, one after the other, on a thread and by a consumer of
 * its own; both begin with the first that is asked for. Searches run beside that.
 */
public final class ImageReader implements ImageSource, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ImageReader.class);
  private static final Duration POLL = Duration.ofMillis(500);

  private final KafkaSettings kafka;
  private final String topic;
  private final Runnable onFailure;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("retstack-images-again").factory());
  private final ExecutorService searchThread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("retstack-images-search").factory());
  private volatile KafkaConsumer<byte[], byte[]> consumer;
  private volatile boolean closed;

  /**
   * Reads nothing yet.
   *
   * @param onFailure run when Kafka refuses for good
   */
  public ImageReader(KafkaSettings kafka, String topic, Runnable onFailure) {
    this.kafka = kafka;
    this.topic = topic;
    this.onFailure = onFailure;
  }

  @Override
  public void read(ImagePlace place, Consumer<Optional<ImageRecord>> told) {
    begin(thread, () -> told.accept(at(place)));
  }

  @Override
  public void search(Set<String> buildIds, Consumer<Map<String, ImageRecord>> told) {
    begin(
        searchThread,
        () -> told.accept(new ImageSearch(kafka, topic, () -> closed).search(buildIds)));
  }

  private synchronized void begin(ExecutorService where, Runnable work) {
    if (closed) {
      return; // nobody is left who would hear of it
    }
    where.execute(
        () -> {
          try {
            work.run();
          } catch (WakeupException _) {
            log.debug("images are not read: closed");
          } catch (RuntimeException e) {
            log.error("cannot read the images topic again", e);
            onFailure.run();
          }
        });
  }

  private Optional<ImageRecord> at(ImagePlace place) {
    if (closed) {
      throw new WakeupException();
    }
    if (consumer == null) {
      consumer =
          new KafkaConsumer<>(settings(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
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
    synchronized (this) {
      closed = true;
      thread.execute(
          () -> {
            if (consumer != null) {
              consumer.close();
            }
          });
      thread.shutdown();
      searchThread.shutdown();
    }
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
