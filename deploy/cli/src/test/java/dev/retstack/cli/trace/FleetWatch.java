package dev.retstack.cli.trace;

import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.control.AnswerSheet;
import dev.retstack.service.control.ControlClient;
import dev.retstack.service.kafka.TopicPartitions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the answers and the records of each core of a running fleet from the topics, as any other
 * client could. One thread.
 */
final class FleetWatch implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(5);
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long DEADLINE_MS = 10_000;

  /** So many entries show what a core that does one thing all the time calls. */
  private static final long ENOUGH = 1_000;

  private final KafkaLink link;
  private final String session;
  private final ControlClient client;
  private final KafkaConsumer<byte[], byte[]> reader;

  /** Entries of each core since they were last waited for. */
  private final Map<String, Long> entries = new TreeMap<>();

  private AnswerSheet sheet = new AnswerSheet("");

  private FleetWatch(KafkaLink link, String session, List<String> names) {
    this.link = link;
    this.session = session;
    names.forEach(name -> entries.put(name, 0L));
    client = link.openCommands();
    reader =
        new KafkaConsumer<>(
            link.settings().consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /**
   * Watches a fleet from now on.
   *
   * @param session of the fleet
   * @param names of its cores
   */
  static FleetWatch open(KafkaLink link, String session, List<String> names) {
    FleetWatch watch = new FleetWatch(link, session, names);
    List<TopicPartition> partitions = new ArrayList<>();
    for (String topic : List.of(link.topics().events(), link.topics().controlResults())) {
      partitions.addAll(TopicPartitions.of(watch.reader, topic));
    }
    watch.reader.assign(partitions);
    watch.reader.seekToEnd(partitions);
    partitions.forEach(watch.reader::position); // now, not at the first poll
    return watch;
  }

  /** A command, not sent yet. */
  static Control control(String target, String name, String... arguments) {
    long now = System.currentTimeMillis();
    return Control.newBuilder()
        .setId(UUID.randomUUID().toString())
        .setIssuer("test")
        .setIssuedAt(now)
        .setDeadline(now + DEADLINE_MS)
        .setTarget(target)
        .setName(name)
        .setArguments(List.of(arguments))
        .build();
  }

  /** Waits until the cores listen: what is commanded before is their past, and not answered. */
  void awaitFleet() throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (true) {
      Control status = control("all", "status");
      client.send(status);
      sheet = new AnswerSheet(status.getId());
      long asked = System.nanoTime();
      while (System.nanoTime() - asked < Duration.ofSeconds(1).toNanos()) {
        poll();
        if (sheet.isComplete() && sheet.cores().size() == entries.size()) {
          return;
        }
      }
      requireInTime(start, "the fleet");
    }
  }

  /** Reads on until each core has entered functions, and then others than at its beginning. */
  void awaitRecords() throws IOException {
    for (int i = 0; i < 2; i++) {
      entries.replaceAll((_, _) -> 0L);
      long start = System.nanoTime();
      while (entries.values().stream().anyMatch(count -> count < ENOUGH)) {
        requireInTime(start, "each core's records");
        poll();
      }
    }
  }

  private static void requireInTime(long start, String what) throws IOException {
    if (System.nanoTime() - start > LIMIT.toNanos()) {
      throw new IOException("waited %d s for %s".formatted(LIMIT.toSeconds(), what));
    }
  }

  private void poll() throws IOException {
    for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
      try {
        take(record);
      } catch (CorruptChunkException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  private void take(ConsumerRecord<byte[], byte[]> record) throws CorruptChunkException {
    if (record.topic().equals(link.topics().controlResults())) {
      sheet.add(ConfluentFrame.decode(record.value(), ControlResult.class));
      return;
    }
    Chunk chunk = ConfluentFrame.decode(record.value(), Chunk.class);
    if (entries.containsKey(chunk.getCore()) && chunk.getSession().equals(session)) {
      RecordBatch records = Chunks.decode(chunk);
      long count = 0;
      for (int i = 0; i < records.size(); i++) {
        count += records.kind[i] == RecordBatch.ENTRY ? 1 : 0;
      }
      entries.merge(chunk.getCore(), count, Long::sum);
    }
  }

  @Override
  public void close() {
    reader.close();
    client.close();
  }
}
