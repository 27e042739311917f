package dev.retstack.service.images;

import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicLog;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.metrics.Metric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Scheduler;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the compacted images topic from its start, outside any consumer group, because every member
 * knows every image. It has its own thread and runs until closed. The next records are read when
 * the registry has stored the last ones, so they pile up nowhere.
 */
public final class ImageFeed implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ImageFeed.class);
  private static final Duration POLL = Duration.ofMillis(500);

  /** Images that go to the registry at once, at most. */
  private static final int POLL_RECORDS = 256;

  /** A member that is frozen for hours continues. */
  private static final Duration STORED = Duration.ofDays(1);

  private final TopicLog topic;
  private final Map<TopicPartition, Long> ends;
  private final ImageClaims claims;
  private final ActorRef<ImageRegistry.Command> registry;
  private final Meters meters;
  private final Scheduler scheduler;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * @param ends where the topic ends now; the registry hears when this much was read
   * @param claims which the registry hears first
   * @param scheduler of the registry's system
   */
  public ImageFeed(
      KafkaSettings kafka,
      Map<TopicPartition, Long> ends,
      ImageClaims claims,
      ActorRef<ImageRegistry.Command> registry,
      Meters meters,
      Scheduler scheduler) {
    this.ends = Map.copyOf(ends);
    this.claims = claims;
    this.registry = registry;
    this.meters = meters;
    this.scheduler = scheduler;
    Map<String, Object> settings = kafka.consumer();
    settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, String.valueOf(POLL_RECORDS));
    this.topic = new TopicLog(settings, TopicLog.FOREVER);
    this.thread = Thread.ofPlatform().daemon().name("retstack-images").unstarted(this::run);
  }

  /** Begins to read. */
  public void start() {
    thread.start();
  }

  private void run() {
    try (topic) {
      registry.tell(new ImageRegistry.Claimed(claims.read(() -> closed)));
      topic.begin(ends.keySet());
      topic.<Exception>readTo(ends, () -> closed, this::store);
      registry.tell(ImageRegistry.CaughtUp.INSTANCE);
      while (!closed) {
        store(topic.poll(POLL));
      }
    } catch (WakeupException | InterruptedException end) {
      log.debug("image feed closed");
    } catch (Exception e) {
      registry.tell(new ImageRegistry.Unreadable(e));
    }
  }

  private void store(ConsumerRecords<byte[], byte[]> records)
      throws InterruptedException, ExecutionException {
    List<ImageRecord> images = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : records) {
      read(record).ifPresent(images::add);
    }
    if (images.isEmpty()) {
      return;
    }
    var stored =
        AskPattern.<ImageRegistry.Command, ImageRegistry.Stored>ask(
                registry, to -> new ImageRegistry.Store(images, to), STORED, scheduler)
            .toCompletableFuture();
    while (!closed) { // the registry may have ended before
      try {
        var _ = stored.get(POLL.toMillis(), TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException _) {
        log.debug("{} images wait for the registry", images.size());
      }
    }
  }

  private Optional<ImageRecord> read(ConsumerRecord<byte[], byte[]> record) {
    if (record.value() == null) {
      return Optional.empty(); // it was deleted: the copy in memory continues to serve
    }
    try {
      return Optional.of(ImageRecord.of(record));
    } catch (CorruptChunkException e) {
      meters.count(Metric.IMAGES_REFUSED);
      log.warn(
          "image at {}-{} offset {} is not readable and is skipped: {}",
          record.topic(),
          record.partition(),
          record.offset(),
          e.getMessage());
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    closed = true;
    topic.wakeup();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
