package dev.retstack.service.checkpoint;

import dev.retstack.graph.snapshot.StateHead;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.identity.Holder;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.OtherVersionException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ledger in Kafka: one transactional producer per partition, whose transactional id is the
 * partition. The broker refuses the writes of an owner that was replaced. A reader with {@code
 * isolation.level=read_committed} sees each derived record once. The consumed offset is in the same
 * transaction, with the member's generation. So the broker refuses a member that the group
 * excluded, even before another owner opens the partition. Other members read who stands beside it
 * ({@link Holder}). A repair reads it back: what was published up to it is not published again.
 */
public final class KafkaLedger implements Ledger {
  private static final Logger log = LoggerFactory.getLogger(KafkaLedger.class);

  /** A transaction left open by a dead owner is given up by the broker after this time. */
  static final Duration TRANSACTION_TIMEOUT = Duration.ofSeconds(60);

  private static final Duration POLL = Duration.ofMillis(100);

  /** Times that a checkpoint is written back while the group moves. */
  private static final int OPENINGS = 3;

  /** Reading again that takes longer has failed. */
  private static final Duration READ_TIMEOUT = Duration.ofMinutes(2);

  /** Of records that are read again at a time. */
  private static final long READ_BYTES = 8 << 20;

  /** Records between two that are wanted: up to this number they are read, more are sought past. */
  private static final int READ_ON = 64;

  private final KafkaSettings kafka;
  private final Topics topics;
  private final String group;
  private final GroupMember member;
  private final int partition;
  private final StartAt start;
  private final boolean repairs;
  private final CheckpointStore store;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Set<TopicPartition> acknowledged = new HashSet<>();
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private KafkaConsumer<byte[], byte[]> reader;
  private boolean inTransaction;
  private boolean refused;

  /** Up to this offset of events the group has published; known only where it repairs. */
  private long reached;

  /** Events below this offset were published by a state that was lost. */
  private long published;

  /**
   * A ledger of one partition. A checkpoint that it cannot continue from is not touched.
   *
   * @param member which owns it
   * @param start where it begins if the group has no state of it
   */
  public KafkaLedger(
      KafkaSettings kafka,
      Topics topics,
      String group,
      int partition,
      GroupMember member,
      StartAt start) {
    this(kafka, topics, group, partition, member, start, false);
  }

  /**
   * A ledger of one partition, which may repair its state.
   *
   * @param repairs whether a checkpoint from which it cannot continue is taken away
   */
  public KafkaLedger(
      KafkaSettings kafka,
      Topics topics,
      String group,
      int partition,
      GroupMember member,
      StartAt start,
      boolean repairs) {
    this.start = start;
    this.repairs = repairs;
    this.kafka = kafka;
    this.topics = topics;
    this.group = group;
    this.partition = partition;
    this.store = new CheckpointStore(kafka, topics.state(), group);
    this.member = member;
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
    member.requireHeld(partition);
    producer.initTransactions();
    reached = repairs ? committed() : 0;
    Checkpoint last;
    try {
      last = begun(loaded());
    } catch (CorruptCheckpointException e) {
      Optional<Checkpoint> anew = repair();
      if (anew.isPresent()) {
        return anew.get();
      }
      throw new UnreadableCheckpointException(partition, e);
    }
    byte[] head = last.parts().getOrDefault(GraphState.HEAD, new byte[0]);
    OptionalInt version = StateHead.versionOf(head);
    if (version.isPresent() && version.getAsInt() != GraphState.VERSION) {
      throw new OtherVersionException(
          "the state of partition %d in topic %s".formatted(partition, topics.state()),
          version.getAsInt(),
          GraphState.VERSION,
          CheckpointCodec.CURE);
    }
    return takenOver(last, Map.of(), List.of());
  }

  /** Commits a higher epoch, with what is new of the state and what is taken away. */
  private Checkpoint takenOver(
      Checkpoint last, Map<String, byte[]> parts, List<ProducerRecord<byte[], byte[]>> gone)
      throws Exception {
    Checkpoint mine = new Checkpoint(partition, last.epoch() + 1, last.nextOffset(), parts);
    for (int refusals = 0; refused || refusals == 0; refusals++) {
      try {
        refused = false;
        publish(gone);
        commit(mine);
      } catch (CommitFailedException e) {
        if (refusals == OPENINGS) {
          throw e;
        }
      }
    }
    return last.withEpoch(mine.epoch());
  }

  @Override
  public Optional<Checkpoint> repair() throws Exception {
    if (!repairs) {
      return Optional.empty();
    }
    abort();
    List<ProducerRecord<byte[], byte[]>> gone = store.forget(partition);
    published = reached;
    log.warn(
        "partition {} is rebuilt from its records: its state cannot be used, and {} records of it"
            + " are taken away; what was published of events below offset {} is not published again",
        partition,
        gone.size(),
        published);
    Checkpoint anew = begun(Checkpoint.again(partition, published));
    return Optional.of(takenOver(anew, anew.parts(), gone));
  }

  /** Where there is no state yet, the first commit says where it begins. */
  private Checkpoint begun(Checkpoint last) {
    if (last.epoch() > 0 || start.equals(new StartAt.Earliest())) {
      return last;
    }
    TopicPartition events = new TopicPartition(topics.events(), partition);
    openReader();
    long offset = start.offset(reader, events);
    log.info("partition {} has no state and begins at offset {}", partition, offset);
    return new Checkpoint(partition, 0, offset, last.parts());
  }

  private void openReader() {
    if (reader == null) {
      reader = KafkaSettings.open(kafka.consumer());
    }
  }

  @Override
  public Checkpoint goBack() throws Exception {
    abort();
    refused = false;
    return loaded();
  }

  private Checkpoint loaded() throws Exception {
    Checkpoint last = store.load(partition);
    published = last.published();
    return last;
  }

  /** The offset that the group committed, whatever its state is; no farther than events are. */
  private long committed() throws Exception {
    openReader();
    TopicPartition events = new TopicPartition(topics.events(), partition);
    try (Admin admin = Admin.create(kafka.admin())) {
      var stable = new ListConsumerGroupOffsetsOptions().requireStable(true);
      OffsetAndMetadata offset =
          admin
              .listConsumerGroupOffsets(group, stable)
              .partitionsToOffsetAndMetadata()
              .get()
              .get(events);
      return offset == null
          ? 0
          : Math.min(offset.offset(), reader.endOffsets(List.of(events)).get(events));
    }
  }

  private void abort() {
    if (inTransaction) {
      producer.abortTransaction();
      inTransaction = false;
      failure.set(null); // that of records which were given up
    }
  }

  @Override
  public Found read(long[] offsets) throws IOException {
    openReader();
    TopicPartition events = new TopicPartition(topics.events(), partition);
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    long deadline = System.nanoTime() + READ_TIMEOUT.toNanos();
    long bytes = 0;
    int next = 0;
    reader.assign(List.of(events));
    reader.seek(events, offsets[0]);
    while (next < offsets.length && bytes < READ_BYTES) {
      if (offsets[next] - reader.position(events) > READ_ON) {
        reader.seek(events, offsets[next]);
      }
      for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
        next = from(offsets, next, record.offset());
        if (next < offsets.length && offsets[next] == record.offset() && bytes < READ_BYTES) {
          found.add(record);
          bytes += Math.max(0, record.serializedValueSize());
          next++;
        }
      }
      if (bytes < READ_BYTES) {
        next = from(offsets, next, reader.position(events)); // no records stand there
      }
      if (System.nanoTime() > deadline) {
        throw new IOException(
            "read %s again only to offset %d of %d"
                .formatted(events, reader.position(events), offsets[offsets.length - 1]));
      }
    }
    reader.unsubscribe(); // what was fetched beyond is let go
    return new Found(found, next < offsets.length ? offsets[next] : offsets[next - 1] + 1);
  }

  /** Index of the first of these offsets, from one on, that is not below. */
  private static int from(long[] offsets, int index, long offset) {
    int next = index;
    while (next < offsets.length && offsets[next] < offset) {
      next++;
    }
    return next;
  }

  @Override
  public void publish(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
    if (refused) {
      return; // they are made again when it went back
    }
    begin();
    for (ProducerRecord<byte[], byte[]> record : records) {
      send(record);
    }
  }

  @Override
  public long commit(Checkpoint checkpoint) throws Exception {
    begin();
    long sent = 0;
    for (ProducerRecord<byte[], byte[]> part : store.records(checkpoint)) {
      send(part);
      sent += part.key().length + (part.value() == null ? 0 : part.value().length);
    }
    long next = Math.max(checkpoint.nextOffset(), Math.max(published, reached));
    sendOffset(next, new Holder(checkpoint.epoch(), member.key()));
    producer.commitTransaction();
    inTransaction = false;
    reached = repairs ? next : 0;
    return sent;
  }

  private void sendOffset(long offset, Holder holder) throws Exception {
    var next =
        Map.of(
            new TopicPartition(topics.events(), partition),
            new OffsetAndMetadata(offset, holder.text()));
    ConsumerGroupMetadata as = null;
    try {
      as = member.commitsAs(partition);
      producer.sendOffsetsToTransaction(next, as);
    } catch (CommitFailedException e) {
      if (as != null) {
        member.refused(as);
      }
      abort();
      refused = true;
      throw e;
    }
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
    if (reader != null) {
      reader.close(CloseOptions.timeout(Duration.ZERO));
    }
  }
}
