package dev.retstack.service.ingest;

import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.metrics.ImageMeter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.pekko.actor.typed.ActorRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the compacted images topic from its start, outside any consumer group: every member knows
 * every image. Runs on a thread of its own until closed.
 */
public final class ImageFeed implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ImageFeed.class);
  private static final Duration POLL = Duration.ofMillis(500);

  /** Images on their way to the registry at most: a topic full of them piles up nowhere. */
  private static final int AHEAD = 256;

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Map<TopicPartition, Long> ends;
  private final ActorRef<ImageRegistry.Command> registry;
  private final ImageMeter meter;
  private final Runnable onFailure;
  private final Thread thread;
  private final Semaphore room = new Semaphore(AHEAD);
  private volatile boolean closed;

  /**
   * @param ends where the topic ends now; the registry is told when this much was read
   * @param onFailure run when Kafka refuses for good
   */
  public ImageFeed(
      KafkaSettings kafka,
      Map<TopicPartition, Long> ends,
      ActorRef<ImageRegistry.Command> registry,
      ImageMeter meter,
      Runnable onFailure) {
    this.ends = Map.copyOf(ends);
    this.registry = registry;
    this.meter = meter;
    this.onFailure = onFailure;
    this.consumer =
        new KafkaConsumer<>(
            kafka.consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    this.thread = Thread.ofPlatform().daemon().name("retstack-images").unstarted(this::run);
  }

  /** Begins to read. */
  public void start() {
    thread.start();
  }

  private void run() {
    try (consumer) {
      List<TopicPartition> partitions = new ArrayList<>(ends.keySet());
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      boolean behind = true;
      while (true) {
        if (behind && partitions.stream().allMatch(p -> consumer.position(p) >= ends.get(p))) {
          registry.tell(ImageRegistry.CaughtUp.INSTANCE);
          behind = false;
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          store(record);
        }
      }
    } catch (WakeupException | InterruptedException end) {
      log.debug("image feed closed");
    } catch (RuntimeException e) {
      log.error("cannot read the images topic any more", e);
      onFailure.run();
    }
  }

  private void store(ConsumerRecord<byte[], byte[]> record) throws InterruptedException {
    if (record.value() == null) {
      return; // an image that was deleted: what is in memory of it goes on serving
    }
    try {
      ImageRecord image = ImageRecord.of(record);
      while (!room.tryAcquire(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
        if (closed) {
          throw new WakeupException(); // the registry may have ended before
        }
      }
      registry.tell(new ImageRegistry.Store(image, room::release));
    } catch (CorruptChunkException e) {
      meter.refused();
      log.warn(
          "image at {}-{} offset {} is not readable and is passed over: {}",
          record.topic(),
          record.partition(),
          record.offset(),
          e.getMessage());
    }
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
