package dev.retstack.service.reconstruct;

import dev.retstack.graph.snapshot.SnapshotReader;
import dev.retstack.graph.snapshot.StateVersions;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.ingest.KafkaSettings;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A ledger in Kafka itself: one transactional producer per partition, whose transactional id is the
 * partition. The broker refuses the writes of an owner that was replaced, and a reader with {@code
 * isolation.level=read_committed} sees each derived record once. The consumed offset goes out in
 * the same transaction, for whoever watches the lag; nothing here reads it back.
 */
public final class KafkaLedger implements Ledger {
  /** Whether a checkpoint can be gone on from. */
  public interface Check {
    /**
     * Looks at a checkpoint before it is written back.
     *
     * @throws UnreadableCheckpointException where it is for others
     */
    void read(Checkpoint last) throws UnreadableCheckpointException;

    /** Those whose state is of one of these versions. */
    static Check of(StateVersions reads) {
      return last -> {
        byte[] state = last.state().joined();
        if (state.length > 0 && !reads.reads(SnapshotReader.versionOf(state))) {
          throw new UnreadableCheckpointException(last, SnapshotReader.versionOf(state), reads);
        }
      };
    }
  }

  /** A transaction left open by a dead owner is given up by the broker after this time. */
  static final Duration TRANSACTION_TIMEOUT = Duration.ofSeconds(60);

  private final Topics topics;
  private final ConsumerGroupMetadata membership;
  private final int partition;
  private final CheckpointStore store;
  private final Check check;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Set<TopicPartition> acknowledged = new HashSet<>();
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private boolean inTransaction;
  private int storedParts;

  /**
   * A ledger of one partition.
   *
   * @param check a checkpoint that it refuses is not touched
   */
  public KafkaLedger(KafkaSettings kafka, Topics topics, String group, int partition, Check check) {
    this.check = check;
    this.topics = topics;
    this.partition = partition;
    this.store = new CheckpointStore(kafka, topics.state(), group);
    this.membership = store.outsideMember();
    Map<String, Object> config = kafka.producer();
    config.put(
        ProducerConfig.TRANSACTIONAL_ID_CONFIG, group + "-" + topics.events() + "-" + partition);
    config.put(
        ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, String.valueOf(TRANSACTION_TIMEOUT.toMillis()));
    this.producer =
        new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public Checkpoint open() throws Exception {
    producer.initTransactions();
    CheckpointCodec.Packed last = store.find(partition);
    CheckpointCodec.Packed mine = last.withEpoch(last.epoch() + 1);
    Checkpoint unpacked = mine.unpack();
    check.read(unpacked);
    storedParts = last.parts();
    commit(mine);
    return unpacked;
  }

  @Override
  public void publish(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
    begin();
    for (ProducerRecord<byte[], byte[]> record : records) {
      send(record);
    }
  }

  @Override
  public long commit(Checkpoint checkpoint) throws Exception {
    return commit(CheckpointCodec.Packed.of(checkpoint));
  }

  private long commit(CheckpointCodec.Packed checkpoint) throws Exception {
    begin();
    List<ProducerRecord<byte[], byte[]>> parts = store.records(checkpoint, storedParts);
    for (ProducerRecord<byte[], byte[]> part : parts) {
      send(part);
    }
    producer.sendOffsetsToTransaction(
        Map.of(
            new TopicPartition(topics.events(), partition),
            new OffsetAndMetadata(checkpoint.nextOffset())),
        membership);
    producer.commitTransaction();
    inTransaction = false;
    storedParts = (int) parts.stream().filter(part -> part.value() != null).count();
    return parts.stream()
        .mapToLong(part -> part.key().length + (part.value() == null ? 0 : part.value().length))
        .sum();
  }

  /**
   * The first record of a transaction to each partition is waited for. A producer that pipelines
   * into a topic just created can lose its first batch and then wait for itself (KAFKA-15591), and
   * a new transaction counts its batches from 0 again, so that a first batch which has to be
   * repeated makes the broker refuse those that overtook it.
   */
  private void send(ProducerRecord<byte[], byte[]> record) throws Exception {
    Exception earlier = failure.get();
    if (earlier != null) {
      throw earlier;
    }
    var sent =
        producer.send(
            record,
            (metadata, error) -> {
              if (error != null) {
                failure.compareAndSet(null, error);
              }
            });
    if (acknowledged.add(new TopicPartition(record.topic(), record.partition()))) {
      try {
        sent.get();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }

  private void begin() {
    if (!inTransaction) {
      producer.beginTransaction();
      acknowledged.clear();
      inTransaction = true;
    }
  }

  @Override
  public void close() {
    // no abort: the next owner's open, or the time-out, aborts what is left
    producer.close(Duration.ZERO);
  }
}
