package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.isolate.IsolateListener;
import dev.retstack.fleet.isolate.IsolatedFleet;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * How long a command takes: from its sending to the first record that a core of a busy fleet made
 * under it, as a reader of the events topic sees it, and to the answer of the last core.
 */
public final class ControlBench {
  /** When the stations of a command's way were passed, by the clock of the host. */
  private static final class Stations {
    private final long start = System.currentTimeMillis();
    private long accepted;
    private long followed = Long.MAX_VALUE;
    private long handedOver;

    void answer(ControlResult answer) {
      if (answer.getStatus() == ControlStatus.ACCEPTED) {
        accepted = answer.getAnsweredAt();
      } else {
        followed = Math.min(followed, answer.getAnsweredAt());
      }
    }
  }

  /** So many filters in turn, so that each command changes sites. */
  private static final int FILTERS = 10;

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration ASK_AGAIN = Duration.ofSeconds(5);
  private static final Duration POLL = Duration.ofMillis(5);

  private final KafkaLink link;
  private final boolean isolated;
  private final String session = "bench-" + UUID.randomUUID();
  private final KafkaConsumer<byte[], byte[]> reader;
  private final Rounds first;
  private final Rounds answered;
  private final Rounds everyCore;
  private final Rounds accepted;
  private final Rounds followed;
  private final Rounds handedOver;
  private double firstWorst;
  private double answeredWorst;

  private ControlBench(KafkaLink link, int rounds, boolean isolated) {
    this.link = link;
    this.isolated = isolated;
    this.first = new Rounds(rounds);
    this.answered = new Rounds(rounds);
    this.everyCore = new Rounds(rounds);
    this.accepted = new Rounds(rounds);
    this.followed = new Rounds(rounds);
    this.handedOver = new Rounds(rounds);
    this.reader =
        new KafkaConsumer<>(
            link.settings().consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /**
   * Measures commands to a fleet of such cores.
   *
   * @param images one for each core
   * @param rounds commands
   * @param isolated whether the cores of each image run in a process of their own
   */
  public static List<Measure> run(
      List<LoadedImage> images, int rounds, KafkaLink link, boolean isolated)
      throws IOException, InterruptedException {
    link.ensureTopics();
    ControlBench bench = new ControlBench(link, rounds, isolated);
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    Thread fleet = Thread.ofPlatform().name("fleet").start(() -> bench.run(images, ended));
    try (ControlClient client = link.openCommands();
        bench.reader) {
      bench.awaitFleet(client, images.size());
      bench.listen();
      for (int round = -2; round < rounds; round++) { // the first ones warm up
        bench.command(client, round, images.size());
      }
    } finally {
      fleet.interrupt();
      ended.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }
    String subject = images.size() + " cores, set-filter" + (isolated ? ", isolated" : "");
    return List.of(
        new Measure("control", subject, "acceptedMs", bench.accepted.median()),
        new Measure("control", subject, "firstCoreFollowedMs", bench.followed.median()),
        new Measure("control", subject, "firstChunkHandedOverMs", bench.handedOver.median()),
        new Measure("control", subject, "firstRecordMs", bench.first.median()),
        new Measure("control", subject, "firstRecordMsWorst", bench.firstWorst),
        new Measure("control", subject, "lastAnswerMs", bench.answered.median()),
        new Measure("control", subject, "lastAnswerMsWorst", bench.answeredWorst),
        new Measure("control", subject, "everyCoreRecordMs", bench.everyCore.median()));
  }

  private void run(List<LoadedImage> images, CompletableFuture<Boolean> ended) {
    List<CoreSpec> cores = new ArrayList<>();
    TraceSettings start =
        TraceSettings.standard().withFilters(FunctionPattern.parseAll("run_w200"));
    for (LoadedImage image : images) {
      LinuxOptions linux =
          LinuxOptions.of("zoo").withArguments(List.of("zoo", "w200", "1000000000"));
      cores.add(
          new CoreSpec("bench-" + cores.size(), image, CoreOptions.of(linux).withTrace(start)));
    }
    FleetOptions options =
        FleetOptions.standard().withSession(session).withFlushInterval(Duration.ofMillis(500));
    try (ChunkSink sink = link.openSink()) {
      if (isolated) {
        IsolatedFleet.run(cores, options, 0, sink, new IsolateListener() {}, link.openControl());
      } else {
        Fleet.run(cores, options, sink, FleetListener.NONE, link.openControl());
      }
      ended.complete(true);
    } catch (InterruptedException e) {
      ended.complete(true);
    } catch (IOException | RuntimeException e) {
      ended.completeExceptionally(e);
    }
  }

  /** A command that comes before the fleet listens is its past, and is not answered. */
  private void awaitFleet(ControlClient client, int cores)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < LIMIT.toNanos()) {
      String id = UUID.randomUUID().toString();
      client.send(command(id, "status", List.of()));
      AnswerSheet sheet = client.await(id, ASK_AGAIN);
      if (sheet.cores().size() == cores) {
        return;
      }
    }
    throw new IOException("the fleet has not started within " + LIMIT.toSeconds() + " s");
  }

  private static Control command(String id, String name, List<String> arguments) {
    return Control.newBuilder()
        .setId(id)
        .setIssuer("bench")
        .setTarget("core=bench-*")
        .setName(name)
        .setArguments(arguments)
        .build();
  }

  /** From now on reads the events and the answers. */
  private void listen() {
    List<TopicPartition> partitions = new ArrayList<>();
    for (String topic : List.of(link.topics().events(), link.topics().controlResults())) {
      partitions.addAll(TopicPartitions.of(reader, topic));
    }
    reader.assign(partitions);
    reader.seekToEnd(partitions);
    partitions.forEach(reader::position);
  }

  private void command(ControlClient client, int round, int cores)
      throws IOException, InterruptedException {
    String id = UUID.randomUUID().toString();
    String filter = "w200_0%d?".formatted(Math.floorMod(round, FILTERS));
    Control control = command(id, "set-filter", List.of(filter));
    Stations stations = new Stations();
    long start = System.nanoTime();
    long number = client.send(control);
    AnswerSheet sheet = new AnswerSheet(id);
    Set<String> marked = new HashSet<>();
    Set<String> recorded = new HashSet<>();
    double firstMs = 0;
    double answeredMs = 0;
    while (recorded.size() < cores || !sheet.isComplete() || sheet.cores().size() < cores) {
      if (System.nanoTime() - start > LIMIT.toNanos()) {
        throw new IOException(
            "after %d s: %d answers and %d cores with records of %d"
                .formatted(LIMIT.toSeconds(), sheet.cores().size(), recorded.size(), cores));
      }
      for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
        take(record, number, sheet, marked, recorded, stations);
        if (stations.handedOver == 0 && !recorded.isEmpty()) {
          stations.handedOver = record.timestamp();
        }
      }
      double now = (System.nanoTime() - start) / 1e6;
      firstMs = firstMs == 0 && !recorded.isEmpty() ? now : firstMs;
      answeredMs = answeredMs == 0 && sheet.isComplete() ? now : answeredMs;
    }
    if (round >= 0) {
      first.add(firstMs);
      accepted.add((double) (stations.accepted - stations.start));
      followed.add((double) (stations.followed - stations.start));
      handedOver.add((double) (stations.handedOver - stations.start));
      answered.add(answeredMs);
      everyCore.add((System.nanoTime() - start) / 1e6);
      firstWorst = Math.max(firstWorst, firstMs);
      answeredWorst = Math.max(answeredWorst, answeredMs);
    }
  }

  private void take(
      ConsumerRecord<byte[], byte[]> record,
      long number,
      AnswerSheet sheet,
      Set<String> marked,
      Set<String> recorded,
      Stations stations)
      throws IOException {
    try {
      if (record.topic().equals(link.topics().controlResults())) {
        ControlResult answer = ConfluentFrame.decode(record.value(), ControlResult.class);
        if (answer.getNumber() == number) {
          stations.answer(answer);
        }
        sheet.add(answer);
        return;
      }
      Chunk chunk = ConfluentFrame.decode(record.value(), Chunk.class);
      if (!chunk.getSession().equals(session) || recorded.contains(chunk.getCore())) {
        return;
      }
      RecordBatch batch = Chunks.decode(chunk);
      for (int i = 0; i < batch.size(); i++) {
        if (batch.kind[i] == RecordBatch.MARK && batch.retP[i] == number) {
          marked.add(chunk.getCore());
        } else if (batch.kind[i] == RecordBatch.ENTRY && marked.contains(chunk.getCore())) {
          recorded.add(chunk.getCore());
        }
      }
    } catch (CorruptChunkException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
