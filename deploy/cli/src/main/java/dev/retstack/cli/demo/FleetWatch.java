package dev.retstack.cli.demo;

import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
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
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Gives commands to a running fleet, and reads the answers and the records of each core from the
 * topics, as any other client could. One thread.
 */
public final class FleetWatch implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(5);
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long DEADLINE_MS = 10_000;
  private static final long NO_COMMAND = -1;

  /** So many entries show what a core that does one thing all the time calls. */
  private static final long ENOUGH = 1_000;

  /**
   * What became of a command.
   *
   * @param control the command
   * @param answers of the fleet and its cores
   * @param firstMs until an entry under it was read, milliseconds; 0: none was waited for
   * @param everyMs until one of each core that follows was
   * @param answeredMs until the last core's answer was
   */
  public record Effect(
      Control control, AnswerSheet answers, double firstMs, double everyMs, double answeredMs) {}

  private final KafkaLink link;
  private final String session;
  private final ControlClient client;
  private final KafkaConsumer<byte[], byte[]> reader;
  private final Map<String, CoreRecords> cores = new TreeMap<>();
  private AnswerSheet sheet = new AnswerSheet("");
  private long answeredNanos;

  private FleetWatch(KafkaLink link, String session, List<String> names) {
    this.link = link;
    this.session = session;
    names.forEach(name -> cores.put(name, new CoreRecords()));
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
  public static FleetWatch open(KafkaLink link, String session, List<String> names) {
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

  /** A command of the demo, not sent yet. */
  public static Control control(String target, String name, String... arguments) {
    long now = System.currentTimeMillis();
    return Control.newBuilder()
        .setId(UUID.randomUUID().toString())
        .setIssuer("demo")
        .setIssuedAt(now)
        .setDeadline(now + DEADLINE_MS)
        .setTarget(target)
        .setName(name)
        .setArguments(List.of(arguments))
        .build();
  }

  /** Waits until the cores listen: what is commanded before is their past, and not answered. */
  public void awaitFleet() throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (true) {
      Control status = control("all", "status");
      client.send(status);
      sheet = new AnswerSheet(status.getId());
      long asked = System.nanoTime();
      while (System.nanoTime() - asked < Duration.ofSeconds(1).toNanos()) {
        poll();
        if (sheet.isComplete() && sheet.cores().size() == cores.size()) {
          return;
        }
      }
      if (System.nanoTime() - start > LIMIT.toNanos()) {
        throw new IOException("the fleet has not started within %d s".formatted(LIMIT.toSeconds()));
      }
    }
  }

  /** Reads on until each core has entered functions, and then others than at its beginning. */
  public void awaitRecords() throws IOException {
    for (int i = 0; i < 2; i++) {
      cores.replaceAll((_, _) -> new CoreRecords());
      await(
          "each core's records",
          () -> cores.values().stream().allMatch(core -> core.entriesAfter() >= ENOUGH));
    }
    cores.values().forEach(core -> core.expect(NO_COMMAND));
  }

  /**
   * Gives a command, and reads on until every core that it names has answered, and those that
   * followed it have noted so in their records.
   *
   * @param entries true: and until each of those has entered a function under it, and each other
   *     core as many functions as before
   */
  public Effect follow(Control control, boolean entries) throws IOException, InterruptedException {
    sheet = new AnswerSheet(control.getId());
    answeredNanos = 0;
    long start = System.nanoTime();
    long number = client.send(control);
    cores.values().forEach(core -> core.expect(number));
    await("answers to " + control.getName(), () -> sheet.isComplete());
    if (sheet.isAllApplied()) { // what was recorded before is all here then
      await("marks of " + control.getName(), () -> followed().allMatch(CoreRecords::isMarked));
    }
    if (entries) {
      await(
          "records under " + control.getName(),
          () -> cores.values().stream().allMatch(this::entered));
    }
    double first = followed().mapToLong(CoreRecords::firstNanos).min().orElse(0);
    double every = followed().mapToLong(CoreRecords::firstNanos).max().orElse(0);
    return new Effect(
        control,
        sheet,
        entries ? (first - start) / 1e6 : 0,
        entries ? (every - start) / 1e6 : 0,
        (answeredNanos - start) / 1e6);
  }

  /** The cores that said that they did it. */
  private Stream<CoreRecords> followed() {
    return sheet.cores().stream().map(answer -> cores.get(answer.getCore()));
  }

  private boolean entered(CoreRecords core) {
    return followed().anyMatch(one -> one == core)
        ? core.isMarked() && core.entriesAfter() > 0
        : core.entriesAfter() >= ENOUGH;
  }

  /** Records of a core. */
  public CoreRecords core(String name) {
    return cores.get(name);
  }

  private void await(String what, BooleanSupplier done) throws IOException {
    long start = System.nanoTime();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT.toNanos()) {
        throw new IOException("waited %d s for %s".formatted(LIMIT.toSeconds(), what));
      }
      poll();
    }
  }

  private void poll() throws IOException {
    for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
      try {
        take(record, System.nanoTime());
      } catch (CorruptChunkException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  private void take(ConsumerRecord<byte[], byte[]> record, long nanos)
      throws CorruptChunkException {
    if (record.topic().equals(link.topics().controlResults())) {
      boolean open = !sheet.isComplete();
      sheet.add(ConfluentFrame.decode(record.value(), ControlResult.class));
      answeredNanos = open && sheet.isComplete() ? nanos : answeredNanos;
      return;
    }
    Chunk chunk = ConfluentFrame.decode(record.value(), Chunk.class);
    CoreRecords core = cores.get(chunk.getCore());
    if (core != null && chunk.getSession().equals(session)) {
      core.add(Chunks.decode(chunk), nanos);
    }
  }

  @Override
  public void close() {
    reader.close();
    client.close();
  }
}
