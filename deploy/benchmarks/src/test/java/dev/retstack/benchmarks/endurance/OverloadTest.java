package dev.retstack.benchmarks.endurance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.benchmarks.CommandRun;
import dev.retstack.benchmarks.measure.MemberProcess;
import dev.retstack.benchmarks.measure.MetricsPage;
import dev.retstack.benchmarks.stages.SyntheticCore;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.transfer.TraceProducer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ten times as much is sent as a member of 256 MiB can take: its heap stays flat, what it has not
 * read yet is lag, which it tells, and in the end every record counts, as in a replay. {@code
 * -Dretstack.overload.seconds=300} says for how long; catching up takes ten times that.
 */
class OverloadTest {
  private static final double SECONDS =
      Double.parseDouble(System.getProperty("retstack.overload.seconds", "60"));

  private static final int TIMES = 10;
  private static final int CORES = 40;
  private static final int RECORDS = 16_384;
  private static final int WARM_UP = 5;
  private static final int FUNCTIONS = 1_000;
  private static final double MIB = 1 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path dir;

  /** The stream of one core, which all cores send: encoded once, it costs the sender little. */
  private final List<Chunk> stream = new ArrayList<>();

  private final Trend heap = new Trend("heapBytes", 24 * MIB);
  private double lagMost;
  private long sent;

  @Test
  @EnabledIfSystemProperty(
      named = "retstack.overload.seconds",
      matches = "[0-9.]+",
      disabledReason = "long form: ./retstack test --campaign overload")
  void overloadIsLagAndNothingElse() throws Exception {
    Image image = SyntheticCore.image("overload", FUNCTIONS);
    SyntheticCore core = new SyntheticCore(image, "overload", "template", 0, FUNCTIONS);
    RecordBatch batch = new RecordBatch(RECORDS);
    try (BrokerProcess kafka = BrokerProcess.start(dir.resolve("broker"), 0);
        MemberProcess member =
            MemberProcess.start(
                List.of("-Xmx256m"),
                List.of("--bootstrap", kafka.bootstrap()),
                dir.resolve("member.log"));
        TraceProducer producer =
            new TraceProducer(
                new KafkaSettings(kafka.bootstrap(), Map.of("linger.ms", "5")),
                Topics.standard())) {
      producer.image(image);
      more(core, batch, 2);
      send(producer, member);
      double rate = rate(core, batch, producer, member);
      more(core, batch, Math.max(1, (int) (TIMES * rate * SECONDS / CORES)));
      stream.add(core.end());
      CompletableFuture<Void> failed = new CompletableFuture<>();
      long begin = System.nanoTime();
      double flood;
      try (Every looking = Every.millis(1_000, failed, () -> look(member))) {
        long before = sent;
        send(producer, null);
        flood = (sent - before) / ((System.nanoTime() - begin) / 1e9);
        awaitAll(member);
        assertThat(failed).isNotCompletedExceptionally();
        assertThat(looking.turns()).isPositive();
      }
      compare(kafka, member);
      System.out.printf(
          Locale.ROOT,
          "sent %.0f chunks/s of %.0f that it takes, lag up to %.0f, drained after %.0f s; load"
              + " %.1f%n",
          flood,
          rate,
          lagMost,
          (System.nanoTime() - begin) / 1e9,
          ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
      System.out.println(heap);
      assertThat(heap.isFlat()).isTrue();
      assertThat(lagMost).isGreaterThan(rate);
    }
  }

  private void more(SyntheticCore core, RecordBatch batch, int chunks) {
    for (int i = 0; i < chunks; i++) {
      stream.add(core.next(batch));
    }
  }

  /** Chunks per second that the member takes when it has taken some. */
  private double rate(
      SyntheticCore core, RecordBatch batch, TraceProducer producer, MemberProcess member)
      throws Exception {
    more(core, batch, WARM_UP);
    long start = System.nanoTime();
    long before = sent;
    send(producer, member);
    return (sent - before) / ((System.nanoTime() - start) / 1e9);
  }

  /** Every core sends what it has not sent yet; with a member, until that has it. */
  private void send(TraceProducer producer, MemberProcess member) throws Exception {
    for (Chunk chunk : stream.subList((int) (sent / CORES), stream.size())) {
      for (int core = 0; core < CORES; core++) {
        producer.chunk(Chunks.seal(Chunk.newBuilder(chunk).setCore("core-" + core).build()));
        sent++;
      }
    }
    producer.flush();
    if (member != null) {
      awaitAll(member);
    }
  }

  private void awaitAll(MemberProcess member) throws Exception {
    long deadline =
        System.nanoTime() + Duration.ofSeconds(120 + (long) (SECONDS * TIMES * 6)).toNanos();
    long records = CORES * stream.stream().mapToLong(Chunk::getRecordCount).sum();
    double seen = 0;
    while (seen != records) {
      seen = member.metrics().sum("retstack_state_records");
      assertThat(System.nanoTime()).as("%s of %s records", seen, records).isLessThan(deadline);
      assertThat(member.endsWithin(20)).as("it ended").isFalse();
    }
  }

  private void look(MemberProcess member) throws Exception {
    // first, since on a busy machine the collection may last until all is taken
    lagMost = Math.max(lagMost, member.metrics().sum("retstack_lag_chunks"));
    member.collectGarbage();
    heap.add(member.metrics().get("jvm_memory_used_bytes", "area=\"heap\""));
  }

  private void compare(BrokerProcess kafka, MemberProcess member) throws Exception {
    MetricsPage page = member.metrics();
    assertThat(page.sum("retstack_state_lost_records")).isZero();
    assertThat(page.sum("retstack_skipped_offsets")).isZero();
    assertThat(page.get("retstack_published_records_total", "topic=\"dead-letters\"")).isZero();
    String trace = dir.resolve("events.avro").toString();
    CommandRun.retstack("record", "--from-kafka", "-o", trace, "--bootstrap", kafka.bootstrap());
    JsonNode live = report("--live", "--http", member.http().toString());
    assertThat(live.get("lost").asLong()).isZero();
    assertThat(live.get("resultHash")).isEqualTo(report(trace).get("resultHash"));
  }

  private static JsonNode report(String... source) throws Exception {
    List<String> line = new ArrayList<>(List.of("report", "--format", "json"));
    line.addAll(List.of(source));
    return JSON.readTree(CommandRun.retstack(line.toArray(String[]::new)));
  }
}
