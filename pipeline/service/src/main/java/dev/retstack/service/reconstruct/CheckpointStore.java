package dev.retstack.service.reconstruct;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.service.ingest.KafkaSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Checkpoints in a compacted topic. Partition p of it holds the checkpoints of partition p of
 * events; the key of a part is {@code group/p/part}, so the newest checkpoint replaces the one
 * before it. That all parts belong together is the work of the transaction they are written in.
 */
final class CheckpointStore {
  private final KafkaSettings kafka;
  private final String topic;
  private final String group;

  CheckpointStore(KafkaSettings kafka, String topic, String group) {
    this.kafka = kafka;
    this.topic = topic;
    this.group = group;
  }

  /**
   * Reads the newest committed checkpoint, or the initial one where there is none.
   *
   * @throws CorruptCheckpointException when what stands there cannot be trusted
   */
  Checkpoint load(int partition) throws IOException {
    return find(partition).unpack();
  }

  /**
   * Reads the newest committed checkpoint as {@link #load} does, and leaves its state packed.
   *
   * @throws CorruptCheckpointException when what stands there cannot be trusted
   */
  CheckpointCodec.Packed find(int partition) throws IOException {
    Map<String, byte[]> parts = read(new TopicPartition(topic, partition));
    byte[] first = parts.get(key(partition, 0));
    if (first == null) {
      return CheckpointCodec.Packed.of(Checkpoint.initial(partition));
    }
    List<byte[]> ordered = new ArrayList<>();
    int count = CheckpointCodec.parts(first);
    for (int i = 0; i < count; i++) {
      byte[] part = parts.get(key(partition, i));
      if (part == null) {
        throw new CorruptCheckpointException(
            "part %d of %d of the checkpoint of partition %d is missing in topic %s"
                .formatted(i, count, partition, topic));
      }
      ordered.add(part);
    }
    CheckpointCodec.Packed found = CheckpointCodec.join(ordered);
    if (found.partition() != partition) {
      throw new CorruptCheckpointException(
          "topic %s holds a checkpoint of partition %d under the key of partition %d"
              .formatted(topic, found.partition(), partition));
    }
    return found;
  }

  /** The records that store a checkpoint in place of one that had {@code before} parts. */
  List<ProducerRecord<byte[], byte[]>> records(CheckpointCodec.Packed checkpoint, int before) {
    List<byte[]> parts = CheckpointCodec.encode(checkpoint);
    int partition = checkpoint.partition();
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    for (int i = 0; i < Math.max(before, parts.size()); i++) {
      byte[] key = key(partition, i).getBytes(UTF_8);
      byte[] value = i < parts.size() ? parts.get(i) : null;
      records.add(new ProducerRecord<>(topic, partition, key, value));
    }
    return records;
  }

  private String key(int partition, int part) {
    return group + "/" + partition + "/" + part;
  }

  /** Last value of each key of this group, up to the present end of the partition. */
  private Map<String, byte[]> read(TopicPartition partition) throws IOException {
    Map<String, byte[]> last = new HashMap<>();
    long bytes = 0;
    long deadline = System.nanoTime() + KafkaLedger.TRANSACTION_TIMEOUT.plusSeconds(30).toNanos();
    // the end for this reader includes transactions still open: waiting for them makes sure that
    // an older commit hidden behind another group's open transaction is not missed
    long end = end(partition);
    long room = Runtime.getRuntime().maxMemory() / 2;
    try (var consumer = consumer(IsolationLevel.READ_COMMITTED)) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      while (consumer.position(partition) < end) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          bytes += keep(last, record);
          if (bytes > room) {
            throw new CorruptCheckpointException(
                "parts of %d MiB stand in %s under the keys of group %s, more than half the heap"
                    .formatted(bytes >> 20, partition, group));
          }
        }
        if (System.nanoTime() > deadline) {
          throw new IOException(
              "read the checkpoint of %s only to offset %d of %d: an open transaction is in the way"
                  .formatted(partition, consumer.position(partition), end));
        }
      }
    }
    return last;
  }

  private long end(TopicPartition partition) {
    try (var consumer = consumer(IsolationLevel.READ_UNCOMMITTED)) {
      return consumer.endOffsets(List.of(partition)).get(partition);
    }
  }

  /** Keeps what is of this group; by how many bytes that is more than before. */
  private long keep(Map<String, byte[]> last, ConsumerRecord<byte[], byte[]> record) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    if (!key.startsWith(group + "/" + record.partition() + "/")) {
      return 0;
    }
    byte[] now = record.value();
    byte[] before = now == null ? last.remove(key) : last.put(key, now);
    return (now == null ? 0 : now.length) - (before == null ? 0L : before.length);
  }

  private KafkaConsumer<byte[], byte[]> consumer(IsolationLevel isolation) {
    Map<String, Object> config = kafka.consumer();
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }
}
