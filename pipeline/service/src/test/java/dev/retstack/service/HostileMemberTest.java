package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.service.publish.PublishedRecord;
import dev.retstack.service.support.HostileChunks;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.MemberProcess;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real member in a heap of 256 MiB takes chunks that make states grow in every way: it does not
 * run out of memory, what it refuses is counted, and the cores of others are what they would be
 * without. {@code -Dretstack.hostile.chunks=1000000} is the long form, {@code -Dretstack.seed}
 * repeats one.
 */
class HostileMemberTest {
  private static final int CHUNKS = Integer.getInteger("retstack.hostile.chunks", 300);
  private static final long SEED = Long.getLong("retstack.seed", 20426);
  private static final int PARTS = 10;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Waits WAITS = new Waits(Duration.ofMinutes(60));

  private final LiveBench bench = LiveBench.fresh();

  @Test
  void hostileChunksOfEveryKindFitIntoASmallMember(@TempDir Path folder) throws Exception {
    final long start = System.nanoTime();
    HostileChunks hostile = new HostileChunks(SEED);
    bench.produce(0, 0.1); // who came first stays
    try (MemberProcess member = MemberProcess.small(bench, folder);
        LiveClient client = new LiveClient(member.uri());
        var producer =
            new KafkaProducer<>(
                bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      caughtUp(client);
      for (int part = 0; part < PARTS; part++) {
        for (int i = 0; i < CHUNKS / PARTS; i++) {
          send(producer, hostile);
        }
        producer.flush();
        bench.produce(part == 0 ? 0.1 : part * 0.1, part == PARTS - 1 ? 1 : (part + 1) * 0.1);
      }
      Scraped page = caughtUp(client);
      assertThat(page.sum("retstack_partition_open")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_partition_epoch")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_partition_failures_total")).isZero();
      assertThat(page.sum("retstack_cores", "state", "BROKEN")).isZero();
      double refused = page.sum("retstack_chunks_total", "outcome", "refused");
      double full = page.sum("retstack_stat", "stat", "STATE_FULL");
      assertThat(full).as("refused for want of room").isPositive();
      assertThat(refused).isPositive().isLessThan(CHUNKS);
      assertThat(page.sum("retstack_state_held_bytes"))
          .isBetween(1.0, page.sum("retstack_state_max_bytes") * 1.02);
      checkGood(client);
      JsonNode named =
          JSON.readTree(client.get("completeness", Map.of("format", "json", "limit", "1")))
              .path("refused");
      assertThat(named)
          .isNotEmpty()
          .allSatisfy(core -> assertThat(core.path("reason").asText()).startsWith("STATE_FULL: "));
      String text = client.get("completeness", Map.of("format", "text", "limit", "1"));
      assertThat(text)
          .contains("WHY", named.get(0).path("core").asText(), "STATE_FULL: the states of");
      try (HttpAsk ask = new HttpAsk(member.uri())) { // copies of all states, or why there are none
        assertThat(ask.get("/report").statusCode()).isIn(200, 503);
        assertThat(ask.get("/graph").statusCode()).isIn(200, 503);
      }
      System.out.printf(
          "%,d hostile chunks of seed %d: %,d records in %d s, %,.0f chunks refused, STATE_FULL"
              + " %,.0f, %,.0f cores, states hold %,.0f of %,.0f KiB, peak of the heap %d MiB of"
              + " 256, %d MiB after a collection%n",
          CHUNKS,
          SEED,
          hostile.records(),
          (System.nanoTime() - start) / 1_000_000_000,
          refused,
          full,
          page.sum("retstack_cores"),
          page.sum("retstack_state_held_bytes") / 1024,
          page.sum("retstack_state_max_bytes") / 1024,
          member.heapPeakMiB(),
          member.heapLeastPeakMiB());
      assertThat(member.said()).doesNotContain("OutOfMemoryError");
    }
  }

  private void send(KafkaProducer<byte[], byte[]> producer, HostileChunks hostile) {
    Chunk chunk = hostile.next();
    for (Image image : hostile.takeImages()) {
      var _ =
          producer.send(
              PublishedRecord.of(
                  bench.topics().images(),
                  null,
                  ImageKey.of(image.getBuildId(), ConfluentFrame.encode(image)),
                  image));
    }
    var _ =
        producer.send(
            PublishedRecord.of(
                bench.topics().events(),
                null,
                chunk.getCore().getBytes(UTF_8),
                chunk,
                chunk.getSession(),
                chunk.getIsa()));
  }

  /** Waits until the member has taken all that was sent, and written it down. */
  private static Scraped caughtUp(LiveClient client) throws Exception {
    Predicate<Scraped> there =
        page ->
            page.sum("retstack_partition_open") == LiveBench.PARTITIONS
                && page.sum("retstack_lag_unknown") == 0
                && page.sum("retstack_lag_chunks") == 0
                && page.sum("retstack_waiting_for_image") == 0
                && page.sum("retstack_checkpoint_behind_chunks") == 0;
    Scraped[] last = new Scraped[1];
    WAITS.await(
        "all chunks are taken",
        () -> {
          last[0] = new Scraped(client.get("metrics", Map.of()));
          return there.test(last[0]);
        });
    return last[0];
  }

  /** The good cores and their functions are those of a replay of them alone. */
  private void checkGood(LiveClient client) throws Exception {
    Report expected = ReportBuilder.of(States.of(bench.fleet())).build();
    Map<String, String> all = Map.of("format", "json", "limit", "1000", "sort", "total");
    JsonNode functions = JSON.readTree(client.get("top", all)).path("functions");
    List<FunctionRow> finished =
        expected.functions().stream().filter(row -> row.total() > 0).toList();
    assertThat(finished).hasSizeGreaterThan(5);
    for (FunctionRow row : finished) {
      assertThat(functions)
          .as(row.toString())
          .filteredOn(found -> found.path("image").asText().equals(row.image()))
          .filteredOn(found -> found.path("name").asText().equals(row.name()))
          .singleElement()
          .satisfies(
              found -> {
                assertThat(found.path("calls").asLong()).isEqualTo(row.calls());
                assertThat(found.path("total").asLong()).isEqualTo(row.total());
                assertThat(found.path("self").asLong()).isEqualTo(row.self());
              });
    }
    Map<String, String> most = Map.of("format", "json", "limit", "10000");
    JsonNode cores = JSON.readTree(client.get("cores", most)).path("cores");
    for (CoreRow row : expected.cores()) {
      assertThat(cores)
          .filteredOn(found -> found.path("session").asText().equals(row.session()))
          .filteredOn(found -> found.path("core").asText().equals(row.core()))
          .singleElement()
          .satisfies(
              found -> {
                assertThat(found.path("records").asLong()).isEqualTo(row.records());
                assertThat(found.path("lost").asLong()).isEqualTo(row.lost());
                assertThat(found.path("end").asText()).isEqualTo(row.end().name());
              });
    }
  }
}
