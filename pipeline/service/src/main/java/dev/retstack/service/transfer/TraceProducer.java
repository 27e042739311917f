package dev.retstack.service.transfer;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.publish.PublishedRecord;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends images and chunks to their topics under the keys that a fleet uses. The first refused
 * record ends it, because later ones must not overtake it. For one thread.
 */
public final class TraceProducer implements AutoCloseable {
  private final Topics topics;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Set<String> begun = new HashSet<>();
  private final Set<Integer> served = new HashSet<>();
  private int partitions;
  private final AtomicReference<Exception> failure = new AtomicReference<>();

  public TraceProducer(KafkaSettings kafka, Topics topics) {
    this.topics = topics;
    this.producer =
        new KafkaProducer<>(kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Publishes an image and waits until it is stored: chunks may name it from then on. */
  public void image(Image image) throws IOException, InterruptedException {
    await(send(PublishedRecord.image(topics.images(), image)));
  }

  /**
   * Publishes a chunk. The first one of a core is waited for until each partition has one: a
   * producer that pipelines into a topic just created can lose its first batch (KAFKA-15591).
   */
  public void chunk(Chunk chunk) throws IOException, InterruptedException {
    Future<RecordMetadata> sent =
        send(
            PublishedRecord.of(
                topics.events(),
                null,
                chunk.getCore().getBytes(UTF_8),
                chunk,
                chunk.getSession(),
                chunk.getIsa()));
    if (begun.isEmpty()) {
      partitions = producer.partitionsFor(topics.events()).size();
    }
    if (served.size() < partitions && begun.add(chunk.getCore())) {
      served.add(await(sent).partition());
    }
  }

  /** Waits until everything is stored. */
  public void flush() throws IOException {
    producer.flush();
    check();
  }

  private Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) throws IOException {
    check();
    try {
      return producer.send(
          record,
          (_, error) -> {
            if (error != null) {
              failure.compareAndSet(null, error);
            }
          });
    } catch (KafkaException e) {
      throw refused(e);
    }
  }

  private static RecordMetadata await(Future<RecordMetadata> sent)
      throws IOException, InterruptedException {
    try {
      return sent.get();
    } catch (ExecutionException e) {
      throw refused(e.getCause());
    }
  }

  private void check() throws IOException {
    if (failure.get() != null) {
      throw refused(failure.get());
    }
  }

  private static IOException refused(Throwable cause) {
    return new IOException("Kafka refused a record: " + cause.getMessage(), cause);
  }

  @Override
  public void close() {
    producer.close();
  }
}
