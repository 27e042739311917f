package dev.retstack.benchmarks.endurance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.benchmarks.measure.MemberProcess;
import dev.retstack.benchmarks.measure.MetricsPage;
import dev.retstack.benchmarks.measure.ProcFiles;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.schema.wire.Topics;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two members and a broker, real processes, run at half of the load they can take: heap after a
 * collection, memory of the machine, threads, descriptors and the state topic stay flat by the rule
 * of {@link Trend}, and every record counts. {@code -Dretstack.soak.minutes=30} says how long;
 * samples go to {@code deploy/cli/target/soak.csv}.
 */
class SoakTest {
  private static final double MINUTES =
      Double.parseDouble(System.getProperty("retstack.soak.minutes", "10"));

  private static final int RECORDS = 16_384;
  private static final int PARTITIONS = 4;
  private static final int TICK_MS = 50;

  /** Chunks on their way while the full load is found. */
  private static final int AHEAD = 200;

  private static final double MIB = 1 << 20;
  private static final Duration CATCH_UP = Duration.ofMinutes(3);

  /** Below it there are too few samples to tell a slope: the run shows that nothing is lost. */
  private static final double JUDGED_MINUTES = 2;

  /** A thousand make checkpoints of some MB. */
  private static final int CORES =
      Integer.getInteger("retstack.soak.cores", MINUTES >= JUDGED_MINUTES ? 1_000 : 50);

  @TempDir private Path dir;

  private final List<MemberProcess> members = new ArrayList<>();
  private final Map<String, Trend> trends = new TreeMap<>();

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.soak.minutes",
      matches = "[0-9.]+",
      disabledReason = "long form: ./retstack test --campaign soak")
  void everythingStaysFlat() throws Exception {
    Path broker = dir.resolve("broker");
    try (BrokerProcess kafka = BrokerProcess.start(broker, 0)) {
      for (String name : List.of("a", "b")) {
        members.add(member(kafka, dir.resolve(name + ".log")));
      }
      boundEvents(kafka.bootstrap());
      try (Load load = new Load(kafka.bootstrap(), "soak", CORES, RECORDS)) {
        load.send(2 * CORES); // images, partitions, the first steps of everybody
        awaitApplied(load.records());
        double full = calibrate(load);
        run(load, full / 2, kafka, broker);
        load.end();
        awaitApplied(load.records());
      } finally {
        members.forEach(MemberProcess::close);
      }
    }
    trends.values().forEach(System.out::println);
    if (MINUTES >= JUDGED_MINUTES) {
      assertThat(trends.values()).allMatch(Trend::isFlat);
    }
  }

  private static MemberProcess member(BrokerProcess kafka, Path log) throws Exception {
    return MemberProcess.start(
        List.of("-Xmx512m"),
        List.of("--bootstrap", kafka.bootstrap(), "--partitions", String.valueOf(PARTITIONS)),
        log);
  }

  /** Events are kept for a while only, as an operator would have it. */
  private static void boundEvents(String bootstrap) throws Exception {
    ConfigResource events =
        new ConfigResource(ConfigResource.Type.TOPIC, Topics.standard().events());
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      List<AlterConfigOp> change = new ArrayList<>();
      Map.of("retention.bytes", 128 << 20, "segment.bytes", 16 << 20)
          .forEach(
              (key, value) ->
                  change.add(
                      new AlterConfigOp(
                          new ConfigEntry(key, value.toString()), AlterConfigOp.OpType.SET)));
      admin.incrementalAlterConfigs(Map.of(events, change)).all().get();
    }
  }

  /** Chunks per second that the members take: sent as fast as they are applied. */
  private double calibrate(Load load) throws Exception {
    double seconds = Math.clamp(MINUTES * 6, 3, 30);
    long start = System.nanoTime();
    double before = applied("retstack_chunks_total");
    while (System.nanoTime() - start < seconds * 1e9) {
      load.send(20);
      while (load.chunks() - applied("retstack_chunks_total") > AHEAD) {
        pause();
      }
    }
    double rate = (applied("retstack_chunks_total") - before) / ((System.nanoTime() - start) / 1e9);
    System.out.printf(
        Locale.ROOT,
        "full load: %.0f chunks/s, %.2f M records/s, load average %.1f%n",
        rate,
        rate * RECORDS / 1e6,
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    return rate;
  }

  /** Sends at this rate for the whole time, and looks every now and then. */
  private void run(Load load, double rate, BrokerProcess kafka, Path broker) throws Exception {
    long sampleMs = MINUTES >= JUDGED_MINUTES ? 10_000 : 2_000;
    CompletableFuture<Void> failed = new CompletableFuture<>();
    long begin = System.nanoTime();
    long before = load.chunks();
    Path csv = Path.of("soak.csv").toAbsolutePath();
    Files.createDirectories(csv.getParent());
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(csv), true);
        Every sending =
            Every.millis(
                TICK_MS,
                failed,
                () -> {
                  double due = (System.nanoTime() - begin) / 1e9 * rate;
                  load.send((int) Math.max(0, due - (load.chunks() - before)));
                });
        Every looking =
            Every.millis(sampleMs, failed, () -> sample(out, begin, kafka.pid(), broker))) {
      long millis = (long) (MINUTES * 60_000);
      failed.copy().completeOnTimeout(null, millis, TimeUnit.MILLISECONDS).get();
      // on a busy machine the first look, two collections, may take longer than a short run
      long over = System.nanoTime();
      while (sending.turns() == 0 || looking.turns() == 0) {
        assertThat(System.nanoTime() - over).as("time to look once").isLessThan(CATCH_UP.toNanos());
        failed.getNow(null);
        pause();
      }
    }
    System.out.println("samples in " + csv);
  }

  private void sample(PrintWriter csv, long begin, long broker, Path folder) throws Exception {
    Map<String, Double> row = new TreeMap<>();
    double lag = 0;
    for (int i = 0; i < members.size(); i++) {
      MemberProcess member = members.get(i);
      member.collectGarbage();
      MetricsPage page = member.metrics();
      lag += page.sum("retstack_lag_chunks");
      String name = "member" + i + ".";
      keep(row, name + "heapBytes", page.get("jvm_memory_used_bytes", "area=\"heap\""), 8 * MIB);
      processOf(row, name, member.pid());
    }
    processOf(row, "broker.", broker);
    Map<String, Long> topics = ProcFiles.topicBytes(folder);
    keep(row, "stateTopicBytes", topics.get(Topics.standard().state()), 16 * MIB);
    topics.forEach((topic, bytes) -> row.put("topic." + topic, (double) bytes));
    row.put("lagChunks", lag);
    row.put("load", ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    if (trends.values().iterator().next().size() == 1) {
      csv.println("seconds," + String.join(",", row.keySet()));
    }
    StringBuilder line = new StringBuilder();
    line.append((System.nanoTime() - begin) / 1_000_000_000);
    row.values().forEach(value -> line.append(',').append(Math.round(value)));
    csv.println(line);
  }

  private void processOf(Map<String, Double> row, String name, long pid) throws Exception {
    keep(row, name + "residentBytes", (double) ProcFiles.residentBytes(pid), 48 * MIB);
    keep(row, name + "threads", (double) ProcFiles.threads(pid), 4);
    keep(row, name + "descriptors", (double) ProcFiles.descriptors(pid), 16);
  }

  private void keep(Map<String, Double> row, String name, double value, double allowance) {
    row.put(name, value);
    trends.computeIfAbsent(name, _ -> new Trend(name, allowance)).add(value);
  }

  private void awaitApplied(long records) throws Exception {
    long start = System.nanoTime();
    while (applied("retstack_state_records") != records) {
      assertThat(System.nanoTime() - start).as("time to catch up").isLessThan(CATCH_UP.toNanos());
      pause();
    }
    assertThat(applied("retstack_state_lost_records")).isZero();
    assertThat(applied("retstack_skipped_offsets")).isZero();
  }

  private double applied(String metric) throws Exception {
    double sum = 0;
    for (MemberProcess member : members) {
      sum += member.metrics().sum(metric);
    }
    return sum;
  }

  private void pause() throws InterruptedException {
    for (MemberProcess member : members) {
      assertThat(member.endsWithin(25)).isFalse();
    }
  }
}
