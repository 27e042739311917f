package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicPartitions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.function.IntSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the checkpoints of a group as they are committed, and holds them to the rule of one owner:
 * the epochs of a partition never decrease, and within an epoch the offsets never do. A second
 * owner would break it with its first checkpoint.
 */
final class StateWatch implements AutoCloseable {
  private static final int MAGIC = 0x52534350;
  private static final int EPOCH_AT = 4 + 1 + 4 + 4 + 4 + 4;
  private static final int OFFSET_AT = EPOCH_AT + 8;

  /** First words of the keys of a state. */
  private static final Set<String> KEYS =
      Set.of("at", "waits", "head", "i", "t", "c", "s", "o", "x", "y");

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final String group;
  private final CompletableFuture<Void> over;
  private final KafkaSettings kafka;
  private final List<TopicPartition> all;
  private final Map<Integer, List<Checkpoint>> checkpoints = new HashMap<>();
  private final List<String> wrong = new ArrayList<>();

  /** Whether the topic can no longer be followed. */
  private boolean blind;

  /** Records of the group that were seen. */
  private long records;

  /**
   * A committed checkpoint, without its state.
   *
   * @param seenNanos when it was read, by {@link System#nanoTime}
   */
  record Checkpoint(int partition, long epoch, long nextOffset, long seenNanos) {}

  /**
   * Follows a state topic from its start.
   *
   * @param isolation {@code read_committed}, or {@code read_uncommitted} to see what may come
   */
  StateWatch(KafkaSettings kafka, String topic, String group, String isolation) {
    this.group = group;
    this.kafka = kafka;
    consumer = consumer(isolation);
    all = TopicPartitions.of(consumer, topic);
    consumer.assign(all);
    consumer.seekToBeginning(all);
    over =
        CompletableFuture.runAsync(
            this::run, Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory()));
  }

  private KafkaConsumer<byte[], byte[]> consumer(String isolation) {
    Map<String, Object> settings = kafka.consumer();
    settings.put("isolation.level", isolation);
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private void run() {
    try (consumer) {
      while (true) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          read(record);
        }
      }
    } catch (WakeupException closed) {
      // the end
    } catch (RuntimeException e) {
      synchronized (this) {
        wrong.add("the state topic cannot be followed: " + e);
        blind = true;
        notifyAll();
      }
    }
  }

  /** Each checkpoint says where it stands; see CheckpointStore in pipeline/service. */
  private synchronized void read(ConsumerRecord<byte[], byte[]> record) {
    String[] key = new String(record.key(), UTF_8).split("/", -1);
    if (!key[0].equals(group) || key[1].equals("image")) {
      return; // of another group, or which content of an image counts
    }
    records++;
    if (!KEYS.contains(key[2])) {
      wrong.add("%s is no key of a state".formatted(String.join("/", key)));
    }
    if (record.value() == null || !key[2].equals("at")) {
      return;
    }
    ByteBuffer header = ByteBuffer.wrap(record.value());
    if (header.getInt(0) != MAGIC) {
      wrong.add(
          "%s at offset %d is no checkpoint".formatted(String.join("/", key), record.offset()));
      return;
    }
    Checkpoint found =
        new Checkpoint(
            record.partition(),
            header.getLong(EPOCH_AT),
            header.getLong(OFFSET_AT),
            System.nanoTime());
    List<Checkpoint> before =
        checkpoints.computeIfAbsent(found.partition(), _ -> new ArrayList<>());
    if (!before.isEmpty()) {
      check(before.getLast(), found);
    }
    before.add(found);
    notifyAll();
  }

  /** A record that says where a state stands, as far as the watch reads it. */
  static byte[] bytes(Checkpoint one) {
    return ByteBuffer.allocate(OFFSET_AT + 8)
        .putInt(0, MAGIC)
        .putLong(EPOCH_AT, one.epoch())
        .putLong(OFFSET_AT, one.nextOffset())
        .array();
  }

  private void check(Checkpoint last, Checkpoint next) {
    boolean later =
        next.epoch() > last.epoch()
            ? next.nextOffset() == last.nextOffset() // a new owner begins where the last one was
            // at the same offset again where only totals were owed
            : next.epoch() == last.epoch() && next.nextOffset() >= last.nextOffset();
    if (!later) {
      wrong.add("%s after %s".formatted(next, last));
    }
  }

  /** What broke the rule; nothing where there was one owner at a time. */
  synchronized List<String> wrong() {
    return checkpoints.isEmpty() && !blind ? List.of("no checkpoint was seen") : List.copyOf(wrong);
  }

  /** Checkpoints seen so far. */
  synchronized int count() {
    return checkpoints.values().stream().mapToInt(List::size).sum();
  }

  /** Records of the state that were seen and that the broker has compacted away since. */
  long compacted() {
    long there = 0;
    try (var again = consumer("read_committed")) {
      again.assign(all);
      again.seekToBeginning(all);
      Map<TopicPartition, Long> ends = again.endOffsets(all);
      while (all.stream().anyMatch(p -> again.position(p) < ends.get(p))) {
        for (ConsumerRecord<byte[], byte[]> record : again.poll(Duration.ofMillis(100))) {
          there += isOfGroup(record) ? 1 : 0;
        }
      }
    }
    synchronized (this) {
      return records - there;
    }
  }

  private boolean isOfGroup(ConsumerRecord<byte[], byte[]> record) {
    return new String(record.key(), UTF_8).startsWith(group + "/");
  }

  /** Times that a partition was taken over, its first owner left out. */
  synchronized long takeovers() {
    return checkpoints.values().stream()
        .mapToLong(all -> all.getLast().epoch() - all.getFirst().epoch())
        .sum();
  }

  /** The newest of a partition. */
  synchronized Optional<Checkpoint> last(int partition) {
    return Optional.ofNullable(checkpoints.get(partition)).map(List::getLast);
  }

  /** The first of a partition above an epoch: that by which its next owner took it over. */
  synchronized Optional<Checkpoint> takeover(int partition, long epoch) {
    return checkpoints.getOrDefault(partition, List.of()).stream()
        .filter(one -> one.epoch() > epoch)
        .findFirst();
  }

  /** Waits for the next checkpoint of one of these partitions, at most so long; false without. */
  synchronized boolean awaitNext(List<Integer> partitions, Duration patience)
      throws InterruptedException {
    int next = count(partitions) + 1;
    return await(() -> count(partitions), next, patience);
  }

  /** Waits until this many were seen, at most so long; false without. */
  synchronized boolean await(int least, Duration patience) throws InterruptedException {
    return await(this::count, least, patience);
  }

  private synchronized boolean await(IntSupplier seen, int least, Duration patience)
      throws InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (seen.getAsInt() < least) {
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0 || blind) {
        return false;
      }
      wait(left);
    }
    return true;
  }

  private int count(List<Integer> partitions) {
    return partitions.stream().mapToInt(p -> checkpoints.getOrDefault(p, List.of()).size()).sum();
  }

  @Override
  public void close() {
    consumer.wakeup();
    over.join();
  }
}
