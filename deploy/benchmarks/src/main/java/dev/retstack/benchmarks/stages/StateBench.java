package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.MemberProcess;
import dev.retstack.benchmarks.measure.MetricsPage;
import dev.retstack.benchmarks.measure.ProcFiles;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.schema.Image;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.transfer.TraceProducer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;

/**
 * What a big state costs: its checkpoints while it is written, and the time until a member that
 * begins with it has caught up. The broker and the members have their own processes, and the state
 * comes from chunks that went through both. One group reads the events with checkpoints as usual,
 * another one without, by turns: the ratio of the two is the cost.
 */
public final class StateBench implements AutoCloseable {
  private static final int IMAGES = 10;
  private static final int WINDOW = 500;

  /** Two chunks of it fill the tree of a core: a core that has been running is measured. */
  private static final int CHUNK_RECORDS = 4_096;

  private static final int CHUNKS_PER_CORE = 3;
  private static final int STEADY_ROUNDS = 3;

  /** Chunks of a steady round, about: enough that it lasts for several checkpoints. */
  private static final int STEADY_CHUNKS = 20_000;

  /** Shares of the cores that send at a stated rate. */
  private static final int[] BUSY_PERCENT = {1, 10, 100};

  /** Chunks per second of all of them together, and for how long. */
  private static final int BUSY_RATE = 100;

  private static final int BUSY_SECONDS = 30;

  private static final Duration PATIENCE = Duration.ofMinutes(15);

  /** Longer than from one checkpoint to the next. */
  private static final Duration QUIET = Duration.ofSeconds(12);

  private static final double MIB = 1 << 20;
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  private static final String STALL = "retstack_checkpoint_stall_seconds_total";
  private static final String CPU = "retstack_checkpoint_cpu_seconds_total";

  /** The least that a broker accepts: so long nobody has the partitions of a dead member. */
  private static final List<String> SESSION = List.of("--kafka", "session.timeout.ms=6000");

  private static final List<String> NEVER =
      List.of("--checkpoint-seconds", "86400", "--checkpoint-chunks", "1000000");

  /**
   * How big the state is.
   *
   * @param cores over all partitions
   * @param functions rows of functions over all partitions
   * @param heap of each member, such as {@code 4g}
   */
  public record Size(int cores, int functions, int partitions, String heap) {}

  private final Size size;
  private final Path folder;
  private final Consumer<String> note;
  private final BrokerProcess broker;
  private final List<SyntheticCore> cores = new ArrayList<>();
  private final List<Measure> measures = new ArrayList<>();
  private final String subject;
  private long chunks;
  private int groups;

  /**
   * Starts the broker.
   *
   * @param folder for the broker and the logs; its data stay there
   */
  public StateBench(Size size, Path folder, Consumer<String> note)
      throws IOException, InterruptedException {
    this.size = size;
    this.folder = folder;
    this.note = note;
    this.subject = "%d cores, %d functions".formatted(size.cores, size.functions);
    this.broker = BrokerProcess.start(folder.resolve("broker"), 0);
  }

  /** Fills the topic, then measures by turns; a round of both takes a pass over the topic each. */
  public List<Measure> run(int rounds) throws IOException, InterruptedException {
    fill();
    Rounds wall = new Rounds(rounds);
    Rounds cpu = new Rounds(rounds);
    for (int round = 0; round < rounds; round++) {
      Pass without = pass("without checkpoints", NEVER);
      boolean last = round == rounds - 1;
      if (!last) {
        without.member().close();
      }
      Pass with = pass("with checkpoints", List.of());
      wall.add(100 * (1 - without.seconds() / with.seconds()));
      cpu.add(100 * (1 - without.cpuSeconds() / with.cpuSeconds()));
      if (last) {
        measure("applyRecordsPerSecond", records() / with.seconds());
        measure("applyCpuNsPerRecord", with.cpuSeconds() * 1e9 / records());
        checkpoints(with);
        steady(without.member(), with.member());
        for (int percent : BUSY_PERCENT) {
          busy(with.member(), percent);
        }
        without.member().close();
        restart(with);
      } else {
        with.member().close();
      }
    }
    measure("checkpointCostPercentOfTime", wall.median());
    measure("checkpointCostPercentOfCpu", cpu.median());
    return measures;
  }

  private void fill() throws IOException, InterruptedException {
    KafkaSettings kafka = new KafkaSettings(broker.bootstrap(), Map.of("linger.ms", "1"));
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(Topics.standard(), size.partitions);
    }
    note.accept("%s: sending %d chunks".formatted(subject, CHUNKS_PER_CORE * size.cores));
    int functions = Math.max(1, size.functions / size.partitions / IMAGES);
    try (TraceProducer producer = new TraceProducer(kafka, Topics.standard())) {
      List<Image> images = new ArrayList<>();
      for (int i = 0; i < IMAGES; i++) {
        images.add(SyntheticCore.image("state-" + i, functions));
        producer.image(images.getLast());
      }
      for (int i = 0; i < size.cores; i++) {
        // a step prime to all that is round spreads the windows, whatever partition a core falls in
        int first = (int) (i * 7_919L % functions);
        cores.add(
            new SyntheticCore(
                images.get(i % IMAGES), "state", "core-" + i, first, Math.min(WINDOW, functions)));
      }
      send(producer, CHUNKS_PER_CORE);
    }
    measure("eventsTopicMib", topicMib(Topics.standard().events()));
  }

  private void send(TraceProducer producer, int each) throws IOException, InterruptedException {
    RecordBatch batch = new RecordBatch(CHUNK_RECORDS);
    for (int i = 0; i < each; i++) {
      for (SyntheticCore core : cores) {
        producer.chunk(core.next(batch));
        chunks++;
      }
    }
    producer.flush();
  }

  private long records() {
    return cores.stream().mapToLong(SyntheticCore::records).sum();
  }

  /** A member that read the whole topic under its own group. */
  private record Pass(MemberProcess member, String group, double seconds, double cpuSeconds) {}

  private Pass pass(String what, List<String> options) throws IOException, InterruptedException {
    String group = "bench-" + groups++;
    note.accept("%s: a pass %s".formatted(subject, what));
    MemberProcess member = member(group, options);
    double cpu = -1;
    long start = 0;
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      MetricsPage page = member.metrics();
      if (start == 0 && page.sum("retstack_applied_records_total") > 0) {
        start = System.nanoTime(); // joining the group is no part of it
        cpu = page.sum("process_cpu_seconds_total");
      }
      if (page.sum("retstack_state_records") >= records()) {
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Pass(member, group, seconds, page.sum("process_cpu_seconds_total") - cpu);
      }
      pause(member, deadline, "read " + chunks + " chunks");
    }
  }

  private MemberProcess member(String group, List<String> more) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--bootstrap", broker.bootstrap(), "--group", group));
    arguments.addAll(SESSION);
    arguments.addAll(more);
    return MemberProcess.start(
        List.of("-Xmx" + size.heap), arguments, folder.resolve(group + ".log"));
  }

  /** Waits until the last chunk is in a checkpoint. Returns what the checkpoints took. */
  private void checkpoints(Pass pass) throws IOException, InterruptedException {
    MemberProcess member = pass.member();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    MetricsPage page = member.metrics();
    // a partition that stands still does not answer: it is not there, rather than 0 behind
    while (page.sum("retstack_partitions_unanswered") > 0
        || page.sum("retstack_checkpoint_behind_chunks") > 0) {
      pause(member, deadline, "write the last checkpoint");
      page = member.metrics();
    }
    member.collectGarbage();
    page = member.metrics();
    double count = page.sum("retstack_checkpoints_total");
    measure("coresInState", page.sum("retstack_cores"));
    measure("stateMib", page.sum("retstack_checkpoint_bytes") / MIB);
    measure("checkpointSecondsMean", page.sum("retstack_checkpoint_seconds_total") / count);
    measure("checkpointsPerPartition", count / size.partitions);
    measure(
        "checkpointSentMibMean", page.sum("retstack_checkpoint_sent_bytes_total") / MIB / count);
    measure("stallSecondsMean", page.sum(STALL) / count);
    measure("checkpointCpuSecondsMean", page.sum(CPU) / count);
    measure("stateTopicMib", topicMib(Topics.standard().state()));
    measure("profilesTopicMib", topicMib(Topics.standard().profiles()));
    measure("heapMib", page.get("jvm_memory_used_bytes", "area=\"heap\"") / MIB);
    measure("residentMib", ProcFiles.residentBytes(member.pid()) / MIB);
  }

  /**
   * What checkpoints cost once the state is there and its rows were published: both members take
   * the same chunks at the same time, so whatever else the machine does, it does to both.
   */
  private void steady(MemberProcess without, MemberProcess with)
      throws IOException, InterruptedException {
    awaitPublished(with);
    int each = Math.ceilDiv(STEADY_CHUNKS, cores.size());
    Rounds cpu = new Rounds(STEADY_ROUNDS);
    Rounds processors = new Rounds(STEADY_ROUNDS);
    Rounds stalled = new Rounds(STEADY_ROUNDS);
    MetricsPage first = with.metrics();
    long began = System.nanoTime();
    for (int round = 0; round < STEADY_ROUNDS; round++) {
      note.accept("%s: %d more chunks for both members".formatted(subject, each * cores.size()));
      MetricsPage withBefore = with.metrics();
      MetricsPage withoutBefore = without.metrics();
      long start = System.nanoTime();
      try (TraceProducer producer = producer()) {
        send(producer, each);
      }
      double spent = spent(with, withBefore);
      double others = spent(without, withoutBefore);
      double seconds = (System.nanoTime() - start) / 1e9;
      cpu.add(100 * (1 - others / spent));
      processors.add(100 * (spent - others) / seconds / PROCESSORS);
      stalled.add(100 * more(STALL, with.metrics(), withBefore) / seconds / size.partitions);
    }
    MetricsPage last = with.metrics();
    double seconds = (System.nanoTime() - began) / 1e9;
    double checkpoints = more("retstack_checkpoints_total", last, first);
    double writing = more(CPU, last, first);
    measure("steadyCheckpointCostPercentOfCpu", cpu.median());
    measure("steadyStallPercentOfTime", stalled.median());
    measure("steadyCheckpointsPerPartition", checkpoints / size.partitions);
    measure("steadyCheckpointCpuSecondsMean", writing / checkpoints);
    measure("steadyCheckpointCostPercentOfProcessors", processors.median());
    measure("steadyWritingPercentOfProcessors", 100 * writing / seconds / PROCESSORS);
    measure("steadySeconds", seconds);
  }

  /** What states cost of a member's CPU where some of its cores send, and the others are silent. */
  private void busy(MemberProcess member, int percent) throws IOException, InterruptedException {
    List<SyntheticCore> some = cores.subList(0, Math.max(1, cores.size() * percent / 100));
    RecordBatch batch = new RecordBatch(CHUNK_RECORDS);
    note.accept(
        "%s: %d %% of them send %d chunks/s for %d s"
            .formatted(subject, percent, BUSY_RATE, BUSY_SECONDS));
    MetricsPage before = member.metrics();
    long start = System.nanoTime();
    double cpu;
    try (TraceProducer producer = producer()) {
      for (int i = 0; i < BUSY_RATE * BUSY_SECONDS; i++) {
        producer.chunk(some.get(i % some.size()).next(batch));
        chunks++;
        long due = start + i * 1_000_000_000L / BUSY_RATE;
        TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
      }
      producer.flush();
      cpu = spent(member, before);
    }
    MetricsPage after = member.metrics();
    double seconds = (System.nanoTime() - start) / 1e9;
    double sent = more("retstack_checkpoint_sent_bytes_total", after, before);
    String name = "busy" + percent + "Percent";
    measure(name + "StatePercentOfCpu", 100 * more(CPU, after, before) / cpu);
    measure(name + "StateSentMibPerMinute", sent / MIB / seconds * 60);
    measure(
        name + "StatePerCheckpointMs",
        1e3 * more(CPU, after, before) / more("retstack_checkpoints_total", after, before));
    measure(name + "CpuPercentOfProcessors", 100 * cpu / seconds / PROCESSORS);
  }

  /** CPU seconds until it has all chunks. */
  private double spent(MemberProcess member, MetricsPage before)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    MetricsPage page = member.metrics();
    while (page.sum("retstack_state_records") < records()) {
      pause(member, deadline, "take more chunks");
      page = member.metrics();
    }
    return page.sum("process_cpu_seconds_total") - before.sum("process_cpu_seconds_total");
  }

  private static double more(String name, MetricsPage now, MetricsPage before) {
    return now.sum(name) - before.sum(name);
  }

  /** Waits until checkpoints have no more rows of profiles to take along. */
  private void awaitPublished(MemberProcess member) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    double rows = -1;
    long since = System.nanoTime();
    while (System.nanoTime() - since < QUIET.toNanos()) {
      pause(member, deadline, "publish its profile");
      double now = member.metrics().sum("retstack_published_records_total");
      if (now > rows) {
        rows = now;
        since = System.nanoTime();
      }
    }
    measure("profileRows", rows);
  }

  private TraceProducer producer() {
    return new TraceProducer(
        new KafkaSettings(broker.bootstrap(), Map.of("linger.ms", "1")), Topics.standard());
  }

  /** Kills the member; another one has a backlog to begin with. */
  private void restart(Pass pass) throws IOException, InterruptedException {
    note.accept("%s: killed, and begun again".formatted(subject));
    pass.member().kill();
    try (TraceProducer producer = producer()) {
      send(producer, 1);
    }
    awaitNobodyIn(pass.group());
    long start = System.nanoTime();
    long deadline = start + PATIENCE.toNanos();
    try (MemberProcess member = member(pass.group(), List.of())) {
      measure("restartHttpSeconds", (System.nanoTime() - start) / 1e9);
      double open = 0;
      double flowing = 0;
      MetricsPage page = member.metrics();
      while (page.sum("retstack_state_records") != records()) {
        double now = (System.nanoTime() - start) / 1e9;
        if (open == 0 && page.sum("retstack_partition_open") == size.partitions) {
          open = now;
        }
        if (flowing == 0 && page.sum("retstack_applied_records_total") > 0) {
          flowing = now;
        }
        pause(member, deadline, "go on after a restart");
        page = member.metrics();
      }
      measure("restartAllOpenSeconds", open);
      measure("restartFlowingSeconds", flowing);
      measure("restartCaughtUpSeconds", (System.nanoTime() - start) / 1e9);
    }
  }

  /** The dead member's time-out is Kafka's, the same whatever the state: it is not measured. */
  private void awaitNobodyIn(String group) throws InterruptedException {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
      while (!admin
          .describeConsumerGroups(List.of(group))
          .describedGroups()
          .get(group)
          .get()
          .members()
          .isEmpty()) {
        Thread.sleep(100);
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("the broker does not tell who is in " + group, e);
    }
  }

  private static void pause(MemberProcess member, long deadline, String what)
      throws IOException, InterruptedException {
    if (member.endsWithin(100) || System.nanoTime() > deadline) {
      throw new IOException("the member did not " + what + ": look at its log");
    }
  }

  private double topicMib(String topic) throws IOException {
    return ProcFiles.topicBytes(folder.resolve("broker")).getOrDefault(topic, 0L) / MIB;
  }

  private void measure(String figure, double value) {
    measures.add(new Measure("state", subject, figure, value));
  }

  @Override
  public void close() throws IOException {
    broker.close();
  }
}
