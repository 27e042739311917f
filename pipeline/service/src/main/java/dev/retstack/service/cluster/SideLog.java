package dev.retstack.service.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.service.ingest.KafkaSettings;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The claims of the sides of a split as records of the topic sides. Key {@code <group>/<member>};
 * the value is the members on its side, a line each in UTF-8, and none where it takes the claim
 * back. Not for several threads.
 */
final class SideLog implements AutoCloseable {
  /** A broker that does not take a claim in this time counts as one that is not reached. */
  private static final int ANSWER_MILLIS = 4_000;

  private static final Duration POLL = Duration.ofMillis(100);

  private final String prefix;
  private final TopicPartition partition;
  private final SideTable table;
  private final KafkaProducer<byte[], byte[]> producer;
  private final KafkaConsumer<byte[], byte[]> consumer;

  SideLog(KafkaSettings kafka, String topic, String group, long expiryMillis) {
    this.prefix = group + "/";
    this.partition = new TopicPartition(topic, 0);
    this.table = new SideTable(expiryMillis);
    Map<String, Object> writes = new HashMap<>(kafka.producer());
    writes.put(ProducerConfig.LINGER_MS_CONFIG, "0");
    writes.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, ANSWER_MILLIS);
    writes.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MILLIS / 2);
    writes.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, ANSWER_MILLIS);
    this.producer =
        new KafkaProducer<>(writes, new ByteArraySerializer(), new ByteArraySerializer());
    Map<String, Object> reads = new HashMap<>(kafka.consumer());
    reads.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MILLIS);
    this.consumer =
        new KafkaConsumer<>(reads, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    consumer.assign(List.of(partition));
    consumer.seekToBeginning(List.of(partition));
  }

  SideTable table() {
    return table;
  }

  /**
   * Claims to go on, and reads what was written up to there.
   *
   * @return offset of the claim
   * @throws KafkaException where the broker does not take it in time
   */
  long claim(String owner, Set<String> side) {
    long offset = write(owner, String.join("\n", side).getBytes(UTF_8));
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ANSWER_MILLIS);
    while (consumer.position(partition) <= offset) {
      read();
      if (System.nanoTime() - deadline > 0) {
        throw new KafkaException("the claim cannot be read back");
      }
    }
    return offset;
  }

  /** Waits for another claim that counts; true where there was one behind {@code offset}. */
  boolean awaitAnotherAfter(long offset, Duration most) {
    long deadline = System.nanoTime() + most.toNanos();
    while (System.nanoTime() - deadline < 0) {
      read();
      if (table.offset() > offset) {
        return true;
      }
    }
    return false;
  }

  void release(String owner) {
    var _ = write(owner, null);
  }

  private long write(String owner, byte[] value) {
    try {
      return producer
          .send(new ProducerRecord<>(partition.topic(), 0, (prefix + owner).getBytes(UTF_8), value))
          .get(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
          .offset();
    } catch (ExecutionException e) {
      throw new KafkaException(String.valueOf(e.getCause().getMessage()), e.getCause());
    } catch (TimeoutException e) {
      throw new KafkaException("no answer within " + ANSWER_MILLIS + " ms", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted", e);
    }
  }

  private void read() {
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
      String key = record.key() == null ? "" : new String(record.key(), UTF_8);
      if (!key.startsWith(prefix)) {
        continue;
      }
      String owner = key.substring(prefix.length());
      if (record.value() == null) {
        table.released(owner, record.timestamp());
      } else {
        Set<String> side =
            Set.copyOf(Arrays.asList(new String(record.value(), UTF_8).split("\n", -1)));
        table.claimed(owner, side, record.offset(), record.timestamp());
      }
    }
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(1));
    consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(1)));
  }
}
