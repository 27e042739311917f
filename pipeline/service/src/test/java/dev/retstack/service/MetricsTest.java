package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.support.States;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.metrics.Metric;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** {@code /metrics} of a member that really runs says what really happened. */
class MetricsTest {
  private static final String TABLE_ROW = "| `retstack_";

  private final LiveBench bench = LiveBench.fresh();

  @Test
  void theNumbersAreThoseOfTheRun() throws Exception {
    bench.produceAll();
    poison("not a chunk");
    try (Pipeline pipeline = PipelineService.start(bench.config())) {
      bench.awaitEnded(pipeline);
      Scraped page = bench.awaitScrape(pipeline, p -> p.sum("retstack_lag_chunks") == 0);

      GraphState state = States.of(bench.fleet());
      Report expected = ReportBuilder.of(state).build();
      long chunks = bench.fleet().stream().mapToLong(core -> core.chunks().size()).sum();
      assertThat(page.sum("retstack_received_chunks_total")).isEqualTo((double) (chunks + 1));
      assertThat(page.sum("retstack_chunks_total", "outcome", "applied"))
          .isEqualTo((double) chunks);
      assertThat(page.sum("retstack_chunks_total", "outcome", "refused")).isEqualTo(1);
      assertThat(page.sum("retstack_applied_records_total")).isEqualTo((double) expected.records());
      assertThat(page.sum("retstack_state_records")).isEqualTo((double) expected.records());
      assertThat(page.sum("retstack_state_lost_records")).isEqualTo((double) expected.lost());
      assertThat(page.sum("retstack_state_untraced_calls"))
          .isPositive()
          .isEqualTo((double) expected.untraced());
      assertThat(page.sum("retstack_cores", "state", "HALTED")).isEqualTo(bench.fleet().size());
      assertThat(page.sum("retstack_cores", "state", "RUNNING")).isZero();
      assertThat(page.sum("retstack_published_records_total", "topic", "dead-letters"))
          .isEqualTo(1);
      assertThat(page.sum("retstack_anomalies_total"))
          .isEqualTo(ReportBuilder.of(state).anomalies().size());
      for (Stat stat : Stat.values()) {
        long wanted =
            expected.stats().stream()
                .filter(row -> row.stat() == stat)
                .mapToLong(row -> row.count())
                .sum();
        long poison = stat == Stat.CORRUPT_CHUNKS ? 1 : 0;
        if (stat != Stat.TREE_CALLS_NOT_KEPT) { // the live state keeps fewer than a replay
          assertThat(page.sum("retstack_stat", "stat", stat.name()))
              .as(stat.name())
              .isEqualTo((double) (wanted + poison));
        }
      }
      assertThat(page.sum("retstack_topic_partitions")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_partition_open")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_partitions_unanswered")).isZero();
      assertThat(page.sum("retstack_lag_unknown")).isZero();
      assertThat(page.sum("retstack_member_info", "group", bench.topics().prefix())).isEqualTo(1);

      Scraped written =
          bench.awaitScrape(pipeline, p -> p.sum("retstack_checkpoint_behind_chunks") == 0);
      assertThat(written.sum("retstack_checkpoints_total")).isPositive();
      assertThat(written.sum("retstack_checkpoint_seconds_total")).isPositive();
      assertThat(written.sum("retstack_checkpoint_bytes")).isPositive();
      assertThat(written.sum("jvm_memory_used_bytes", "area", "heap")).isPositive();
      assertThat(written.sum("jvm_threads_current")).isPositive();
      assertThat(written.names()).contains("jvm_gc_collection_seconds_count");
    }
  }

  @Test
  void everyNameIsInTheReadmeWithItsTypeAndNoOtherIs() throws Exception {
    bench.produceAll();
    poison("not a chunk");
    try (Pipeline pipeline = PipelineService.start(bench.config())) {
      bench.awaitEnded(pipeline);
      bench.awaitScrape(pipeline, p -> p.sum("retstack_http_requests_total") > 0);
      Scraped page = bench.scrape(pipeline);
      Set<String> shown =
          page.names().stream()
              .filter(name -> name.startsWith("retstack_"))
              .collect(Collectors.toCollection(TreeSet::new));

      assertThat(shown).isEqualTo(documented());
      assertThat(shown)
          .isEqualTo(
              Arrays.stream(Metric.values())
                  .map(Metric::exposed)
                  .collect(Collectors.toCollection(TreeSet::new)));
      assertThat(page.helped()).containsAll(shown);
      for (Metric metric : Metric.values()) {
        assertThat(page.types().get(metric.exposed()))
            .as(metric.exposed())
            .isEqualTo(metric.isCounter() ? "counter" : "gauge");
      }
    }
  }

  /** Names in the table of METRICS.md. */
  private static Set<String> documented() throws Exception {
    List<String> lines = Files.readAllLines(Path.of("METRICS.md"));
    return lines.stream()
        .filter(line -> line.startsWith(TABLE_ROW))
        .map(line -> line.substring(3, line.indexOf('`', 3)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private void poison(String value) throws Exception {
    try (var producer =
        new KafkaProducer<>(
            bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      producer
          .send(
              new ProducerRecord<>(
                  bench.topics().events(), "poison".getBytes(UTF_8), value.getBytes(UTF_8)))
          .get();
    }
  }

  @Test
  void aPartitionThatIsNotOpenedYetDoesNotHideTheOthers() throws Exception {
    try (Pipeline pipeline = PipelineService.start(bench.config())) {
      // at once: whatever is open by now, the page is there and says how many partitions there are
      Scraped page = bench.scrape(pipeline);
      assertThat(page.sum("retstack_topic_partitions")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_partition_open")).isBetween(0.0, (double) LiveBench.PARTITIONS);
    }
  }
}
