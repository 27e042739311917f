package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.graph.calls.Breaking;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.KafkaToTrace;
import dev.retstack.service.transfer.TraceProducer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Chunks that make reconstruction throw, in the middle of others on the same partition: each costs
 * its own core, and no partition leaves its owner.
 */
@Order(1)
class BrokenChunkTest {
  private static final int MANY = Integer.getInteger("retstack.broken.cores", 20);
  private static final long POISON = 0x401000 + 2 * 0x40;
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));

  private final LiveBench bench = LiveBench.fresh(1, 5, GroupProtocol.CLASSIC);

  /** Three good chunks and calls that never return, one that is poison, one behind it. */
  private static CoreScript bad(String name) {
    return bad(name, "bad");
  }

  private static CoreScript bad(String name, String image) {
    CoreScript core =
        new CoreScript(CoreScript.image(image, "main", "leaf", "poison"), "hostile", name);
    core.enter("main").tick(3).enter("leaf").tick(2).exit(16).chunk();
    core.enter("leaf").tick(3).exit().chunk();
    core.enter("leaf").tick(1).chunk();
    core.enter("poison").tick(1).exit().chunk();
    return core.enter("leaf").tick(1).exit().end();
  }

  /** Its good part, as a core of its own would have sent it. */
  private static List<Chunk> goodPart(CoreScript core) {
    return core.chunks().subList(0, 3);
  }

  private void send(List<Chunk> chunks) throws Exception {
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(bad("any").image());
      for (Chunk chunk : chunks) {
        producer.chunk(chunk);
      }
      producer.flush();
    }
  }

  private static void awaitEnded(Pipeline pipeline, List<CoreScript> cores) throws Exception {
    WAITS.await(
        pipeline.awaitCoresEnded(
            cores.stream()
                .map(core -> ChunkApplier.key(core.chunks().getFirst()))
                .collect(Collectors.toSet())));
  }

  @Test
  void itCostsOneCoreAndNoPartitionMoves(@TempDir Path dir) throws Exception {
    List<CoreScript> bad = List.of(bad("bad-1"), bad("bad-2"));
    bench.produce(0, 0.5);
    send(bad.getFirst().chunks());
    send(bad.getLast().chunks()); // one right behind the other
    try (Breaking broken = Breaking.of(key -> key.session().equals("hostile"), POISON)) {
      // a member that dies in between: the next one does it again
      Pipeline first = PipelineService.start(member());
      WAITS.await("it throws", () -> broken.thrown() > 0);
      WAITS.await(first.abort());
      bench.produce(0.5, 1);
      try (Pipeline pipeline = PipelineService.start(member())) {
        awaitEnded(pipeline, bench.fleet());
        awaitEnded(pipeline, bad);
        checkRest(WAITS.await(pipeline.view()).report(Optional.empty(), false), bad);
        bench.awaitScrape(
            pipeline,
            p ->
                p.sum("retstack_stat", "stat", "BROKEN_CHUNKS") == 4
                    && p.sum("retstack_cores", "state", "BROKEN") == 2
                    && p.sum("retstack_checkpoint_behind_chunks") == 0);
        try (LiveClient client = new LiveClient(pipeline.httpUri())) {
          assertThat(client.get("cores", Map.of("format", "text"))).contains("BROKEN");
        }
        WAITS.await(pipeline.stop());
      }
      checkPublished(bad);
      Path file = dir.resolve("broken.avro");
      KafkaToTrace.copy(bench.kafka(), bench.topics(), file, TraceReplay.Progress.SILENT);
      GraphState replayed = TraceReplay.read(file, TraceReplay.Progress.SILENT).state();
      checkRest(ReportBuilder.of(replayed).build(), bad);
    }
  }

  private PipelineConfig member() {
    return bench.config().but().checkpoints(Duration.ofMillis(300), 7).build();
  }

  /**
   * All but the two cores is what it would be without them, and these are right up to the poison.
   */
  private void checkRest(Report report, List<CoreScript> bad) throws Exception {
    Report expected = ReportBuilder.of(expected(bad)).build();
    assertThat(report.functions()).isEqualTo(expected.functions());
    assertThat(report.edges()).isEqualTo(expected.edges());
    assertThat(report.cores()).hasSameSizeAs(expected.cores());
    assertThat(report.cores())
        .filteredOn(core -> core.session().equals("hostile"))
        .hasSize(bad.size())
        .allSatisfy(
            core -> {
              assertThat(core.end().name()).isEqualTo("BROKEN");
              assertThat(core.endDetail()).contains("chunk 3 of core " + core.core());
              assertThat(core.lost()).isEqualTo(4);
              assertThat(core.records()).isEqualTo(6);
            });
  }

  private GraphState expected(List<CoreScript> bad) throws Exception {
    ChunkApplier applier = new ChunkApplier(States.of(bench.fleet()));
    for (CoreScript core : bad) {
      applier.image(core.image());
      for (Chunk chunk : goodPart(core)) {
        applier.apply(chunk);
      }
    }
    return applier.state();
  }

  /** Each finding stands once in its topic, though its chunk was applied more than once. */
  private void checkPublished(List<CoreScript> bad) throws Exception {
    assertThat(decoded(bench.topics().anomalies(), Anomaly.class))
        .extracting(a -> a.getCore() + " " + a.getKind() + " " + a.getTime() + " " + a.getMessage())
        .containsExactlyInAnyOrderElementsOf(
            ReportBuilder.of(expected(bad)).anomalies().stream()
                .map(a -> a.core() + " " + a.kind() + " " + a.time() + " " + a.message())
                .toList());
    checkLetters("bad-1 3", "bad-1 4", "bad-2 3", "bad-2 4");
  }

  /** Each names its core, and says what its chunk 3 did. */
  private void checkLetters(String... coresAndChunks) throws Exception {
    List<DeadLetter> letters = decoded(bench.topics().deadLetters(), DeadLetter.class);
    assertThat(letters)
        .extracting(
            letter -> {
              Chunk chunk = ConfluentFrame.decode(letter.getValue().array(), Chunk.class);
              return chunk.getCore() + " " + chunk.getSequence();
            })
        .containsExactlyInAnyOrder(coresAndChunks);
    assertThat(letters)
        .allSatisfy(
            letter ->
                assertThat(letter.getReason())
                    .contains("chunk 3 of core ", "made reconstruction fail"));
  }

  /** What waited until its image came is in dead letters as well. */
  @Test
  void whatWaitedHasItsDeadLetter() throws Exception {
    CoreScript waits = bad("waits", "comes-late");
    bench.produce(0, 0.5);
    send(waits.chunks());
    Pipeline first = PipelineService.start(member());
    bench.awaitScrape(
        first,
        page ->
            page.sum("retstack_waiting_for_image") == waits.chunks().size()
                && page.sum("retstack_checkpoint_behind_chunks") == 0);
    WAITS.await(first.stop()); // they are in its last checkpoint

    bench.produce(0.5, 1);
    try (Breaking _ = Breaking.of(key -> key.session().equals("hostile"), POISON);
        Pipeline pipeline = PipelineService.start(member())) {
      try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
        producer.image(waits.image());
        producer.flush();
      }
      awaitEnded(pipeline, bench.fleet());
      awaitEnded(pipeline, List.of(waits));
      ChunkApplier expected = new ChunkApplier(States.of(bench.fleet()));
      expected.image(waits.image());
      for (Chunk chunk : goodPart(waits)) {
        expected.apply(chunk);
      }
      Report report = WAITS.await(pipeline.view()).report(Optional.empty(), false);
      assertThat(report.functions())
          .isEqualTo(ReportBuilder.of(expected.state()).build().functions());
      assertThat(report.edges()).isEqualTo(ReportBuilder.of(expected.state()).build().edges());
      bench.awaitScrape(pipeline, page -> page.sum("retstack_checkpoint_behind_chunks") == 0);
      WAITS.await(pipeline.stop());
    }
    checkLetters("waits 3", "waits 4");
  }

  /** Cores that break with their first chunk, one behind the other: bounded work for each. */
  @Test
  void manyThatBreakCostLittleEach() throws Exception {
    List<CoreScript> bad = new ArrayList<>();
    List<Chunk> chunks = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      CoreScript core =
          new CoreScript(CoreScript.image("bad", "main", "leaf", "poison"), "hostile", "bad-" + i);
      bad.add(core.enter("poison").tick(1).exit().end());
      chunks.addAll(core.chunks());
    }
    bench.produce(0, 0.5);
    send(chunks);
    bench.produce(0.5, 1);
    try (Breaking broken = Breaking.of(key -> key.session().equals("hostile"), POISON);
        Pipeline pipeline = PipelineService.start(bench.config())) {
      awaitEnded(pipeline, bench.fleet());
      awaitEnded(pipeline, bad);
      Scraped page = bench.scrape(pipeline);
      assertThat(page.sum("retstack_cores", "state", "BROKEN")).isEqualTo(MANY);
      assertThat(page.sum("retstack_partition_epoch")).isEqualTo(1);
      // the first goes back, the others are tried on copies
      assertThat(page.sum("retstack_partition_failures_total")).isEqualTo(1);
      assertThat(broken.thrown()).isLessThanOrEqualTo(MANY + 1);
      Report report = WAITS.await(pipeline.view()).report(Optional.empty(), true);
      assertThat(report.functions())
          .isEqualTo(ReportBuilder.of(States.of(bench.fleet())).build().functions());
    }
  }

  private <T extends AvroRecord> List<T> decoded(String topic, Class<T> type) throws Exception {
    List<T> values = new ArrayList<>();
    for (byte[] value : TopicReader.values(bench.kafka(), topic)) {
      values.add(ConfluentFrame.decode(value, type));
    }
    return values;
  }
}
