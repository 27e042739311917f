package dev.retstack.service.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.LazyParts;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.identity.Holder;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The state of each partition of events as a changelog: partition p of a compacted topic holds the
 * parts of partition p's state, and a checkpoint writes those that changed. That they belong
 * together is the work of the transaction they are written in.
 *
 * <pre>
 * key             value
 * group/p/at      where it stands: u32 p  u64 epoch  u64 nextOffset  u64 hash of the state's head
 * group/p/waits   chunks that wait for images
 * group/p/...     a part of the state, see dev.retstack.graph.snapshot.StateLog
 * ...~1, ...~2    the further pieces of a part that is large, see {@link CheckpointCodec}
 * </pre>
 *
 * Not safe for use by several threads at once.
 */
final class CheckpointStore {
  private static final String AT = "at";
  private static final List<byte[]> NOTHING = List.of();
  private static final int AT_BYTES = 4 + 8 + 8 + 8;
  private static final char PIECE = '~';

  private final KafkaSettings kafka;
  private final String topic;
  private final String group;

  /** Pieces of the parts that have more than one. */
  private final Map<String, Integer> pieces = new HashMap<>();

  /** Of the state's head. */
  private long headHash;

  CheckpointStore(KafkaSettings kafka, String topic, String group) {
    this.kafka = kafka;
    this.topic = topic;
    this.group = group;
  }

  /**
   * Reads the newest committed state, or the initial one where there is none.
   *
   * @throws CorruptCheckpointException when what stands there cannot be trusted
   */
  Checkpoint load(int partition) throws IOException {
    return of(partition, read(new TopicPartition(topic, partition)));
  }

  /** The state of these records, by their keys without group and partition. */
  Checkpoint of(int partition, Map<String, byte[]> records) throws IOException {
    Map<String, byte[]> parts = parts(records);
    headHash = 0;
    byte[] at = parts.remove(AT);
    if (at == null && parts.isEmpty()) {
      return Checkpoint.initial(partition);
    }
    ByteBuffer in = ByteBuffer.wrap(at == null ? new byte[0] : at);
    if (in.remaining() != AT_BYTES || in.getInt() != partition) {
      throw new CorruptCheckpointException(
          "topic %s names no position of the state under the keys of partition %d"
              .formatted(topic, partition));
    }
    Checkpoint found = new Checkpoint(partition, in.getLong(), in.getLong(), parts);
    if (found.epoch() < 0 || found.epoch() >= Holder.EPOCH_MAX || found.nextOffset() < 0) {
      throw new CorruptCheckpointException(
          "topic %s has partition %d at epoch %d, offset %d: no partition comes there"
              .formatted(topic, partition, found.epoch(), found.nextOffset()));
    }
    headHash = in.getLong();
    if (headHash != headOf(parts)) {
      throw new CorruptCheckpointException(
          "topic %s has partition %d at offset %d, but the state there is another"
              .formatted(topic, partition, found.nextOffset()));
    }
    return found;
  }

  private static long headOf(Map<String, byte[]> parts) {
    byte[] head = parts.get(GraphState.HEAD);
    return head == null ? 0 : ByteOutput.hash(head, 0);
  }

  /** The parts of these records, each of which unpacks. */
  private Map<String, byte[]> parts(Map<String, byte[]> records) throws IOException {
    pieces.clear();
    Map<String, List<byte[]>> packed = new HashMap<>();
    int used = 0;
    for (Map.Entry<String, byte[]> record : records.entrySet()) {
      String key = record.getKey();
      if (key.indexOf(PIECE) < 0) {
        int count = CheckpointCodec.decode(record.getValue()).pieces();
        packed.put(key, count == 1 ? List.of(record.getValue()) : pieces(key, count, records));
        used += count;
      }
    }
    if (used != records.size()) {
      throw new CorruptCheckpointException(
          "topic %s holds pieces of the state that belong to no part".formatted(topic));
    }
    return new LazyParts<>(packed, CheckpointStore::unpack);
  }

  private List<byte[]> pieces(String key, int count, Map<String, byte[]> records)
      throws IOException {
    List<byte[]> all = new ArrayList<>();
    all.add(records.get(key));
    for (int i = 1; i < count; i++) {
      byte[] record = records.get(key + PIECE + i);
      if (record == null) {
        throw new CorruptCheckpointException(
            "piece %d of %d of %s is missing in topic %s".formatted(i, count, key, topic));
      }
      CheckpointCodec.decode(record);
      all.add(record);
    }
    pieces.put(key, count);
    return all;
  }

  private static byte[] unpack(List<byte[]> records) {
    try {
      byte[] first = CheckpointCodec.decode(records.getFirst()).bytes();
      if (records.size() == 1) {
        return first;
      }
      ByteArrayOutputStream part = new ByteArrayOutputStream();
      part.writeBytes(first);
      for (byte[] record : records.subList(1, records.size())) {
        part.writeBytes(CheckpointCodec.decode(record).bytes());
      }
      return part.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a part that was sound does not unpack", e);
    }
  }

  /** The records that store a checkpoint, beside those that were stored before. */
  List<ProducerRecord<byte[], byte[]>> records(Checkpoint checkpoint) {
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    int partition = checkpoint.partition();
    for (Map.Entry<String, byte[]> part : checkpoint.parts().entrySet()) {
      String key = part.getKey();
      List<byte[]> now =
          part.getValue() == null ? NOTHING : CheckpointCodec.encode(part.getValue());
      int before = pieces.getOrDefault(key, 1);
      for (int i = 0; i < Math.max(now.size(), before); i++) {
        records.add(
            record(partition, i == 0 ? key : key + PIECE + i, i < now.size() ? now.get(i) : null));
      }
      if (now.size() > 1) {
        pieces.put(key, now.size());
      } else if (before > 1) {
        pieces.remove(key);
      }
    }
    if (checkpoint.parts().containsKey(GraphState.HEAD)) {
      headHash = headOf(checkpoint.parts());
    }
    ByteBuffer at = ByteBuffer.allocate(AT_BYTES);
    at.putInt(partition).putLong(checkpoint.epoch()).putLong(checkpoint.nextOffset());
    at.putLong(headHash);
    records.add(record(partition, AT, CheckpointCodec.encode(at.array()).getFirst()));
    return records;
  }

  private ProducerRecord<byte[], byte[]> record(int partition, String key, byte[] value) {
    return new ProducerRecord<>(topic, partition, (prefix(partition) + key).getBytes(UTF_8), value);
  }

  private String prefix(int partition) {
    return group + "/" + partition + "/";
  }

  /** The records that take away all that stands under the keys of this partition. */
  List<ProducerRecord<byte[], byte[]>> forget(int partition) throws IOException {
    Set<String> keys = new TreeSet<>();
    eachRecord(
        new TopicPartition(topic, partition),
        record -> {
          String key = key(record);
          if (key != null && record.value() == null) {
            keys.remove(key);
          } else if (key != null) {
            keys.add(key);
          }
        });
    pieces.clear();
    headHash = 0;
    return keys.stream().map(key -> record(partition, key, null)).toList();
  }

  /** Last value of each key of this group, up to the present end of the partition. */
  private Map<String, byte[]> read(TopicPartition partition) throws IOException {
    Map<String, byte[]> last = new HashMap<>();
    long[] bytes = {0};
    long room = Runtime.getRuntime().maxMemory() / 2;
    eachRecord(
        partition,
        record -> {
          bytes[0] += keep(last, record);
          if (bytes[0] > room) {
            throw new CorruptCheckpointException(
                "parts of %d MiB are in %s under the keys of group %s, more than half the heap"
                    .formatted(bytes[0] >> 20, partition, group));
          }
        });
    return last;
  }

  private interface Taker {
    void take(ConsumerRecord<byte[], byte[]> record) throws IOException;
  }

  /** All records up to the present end of the partition. */
  private void eachRecord(TopicPartition partition, Taker taker) throws IOException {
    Duration patience = KafkaLedger.TRANSACTION_TIMEOUT.plusSeconds(30);
    // the end for this reader includes transactions still open: waiting for them makes sure that
    // an older commit hidden behind another group's open transaction is not missed
    Map<TopicPartition, Long> end;
    try (TopicLog log = new TopicLog(config(IsolationLevel.READ_UNCOMMITTED), patience)) {
      end = log.ends(List.of(partition));
    }
    try (TopicLog log = new TopicLog(config(IsolationLevel.READ_COMMITTED), patience)) {
      log.begin(List.of(partition));
      log.<IOException>readTo(
          end,
          () -> false,
          records -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
              taker.take(record);
            }
          });
    } catch (TimeoutException e) {
      throw new IOException(
          "cannot read the checkpoint of %s: an open transaction is in the way, or Kafka is away: %s"
              .formatted(partition, e.getMessage()),
          e);
    }
  }

  /** Keeps what is of this group; by how many bytes that is more than before. */
  private long keep(Map<String, byte[]> last, ConsumerRecord<byte[], byte[]> record) {
    String key = key(record);
    if (key == null) {
      return 0;
    }
    byte[] now = record.value();
    byte[] before = now == null ? last.remove(key) : last.put(key, now);
    return (now == null ? 0 : now.length) - (before == null ? 0L : before.length);
  }

  /** Its key without group and partition; null where it is of another group. */
  private String key(ConsumerRecord<byte[], byte[]> record) {
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    String prefix = prefix(record.partition());
    return key.startsWith(prefix) ? key.substring(prefix.length()) : null;
  }

  private Map<String, Object> config(IsolationLevel isolation) {
    Map<String, Object> config = kafka.consumer();
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
    return config;
  }
}
