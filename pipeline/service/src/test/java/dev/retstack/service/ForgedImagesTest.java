package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.KafkaToTrace;
import dev.retstack.service.transfer.TraceProducer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A producer announces other contents under the build-id of an image: its functions keep names. */
class ForgedImagesTest {
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));
  private static final Image GOOD = CoreScript.image("build", "main", "walk", "leaf");

  private static final byte[] FORGED_IMAGE = forged();
  private static final int CORES = 4 * LiveBench.PARTITIONS;

  private final LiveBench bench = LiveBench.fresh();

  @Test
  void theFirstContentOfABuildIdStaysAlsoAfterARestart(@TempDir Path folder) throws Exception {
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(GOOD);
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        run(pipeline, producer, "before");
        forge();
        WAITS.await(
            "refusals",
            () -> bench.scrape(pipeline).sum("retstack_images_refused_total") == FORGED);
        producer.image(GOOD);
        run(pipeline, producer, "behind");
        assertThat(names(pipeline)).containsExactlyInAnyOrder("main", "walk", "leaf");
        WAITS.await(pipeline.stop());
      }
      // a group without a state takes all from the topic
      PipelineConfig anew = bench.config().but().groupId("anew-" + bench.topics().prefix()).build();
      for (PipelineConfig config : List.of(bench.config(), anew)) {
        try (Pipeline pipeline = PipelineService.start(config)) {
          run(pipeline, producer, "restarted-" + config.groupId());
          assertThat(names(pipeline)).containsExactlyInAnyOrder("main", "walk", "leaf");
          assertThat(bench.scrape(pipeline).sum("retstack_images_refused_total")).isEqualTo(FORGED);
          WAITS.await(pipeline.stop());
        }
      }
    }
    Path trace = folder.resolve("trace.avro");
    var copied = KafkaToTrace.copy(bench.kafka(), bench.topics(), trace, (_, _) -> {});
    assertThat(copied.images()).isEqualTo(1);
    assertThat(copied.refused()).isEqualTo(FORGED);
  }

  /**
   * A fleet that starts again announces its image again: compaction then removes the first record,
   * and the forged one stands before it. Partitions that did not use the image yet ask for it.
   */
  @Test
  void theContentThatWasUsedStaysWhereCompactionLeavesAnotherBeforeIt() throws Exception {
    bench.compactImages();
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(GOOD);
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        run(pipeline, producer, "before", 1);
        forge();
        producer.image(GOOD);
        producer.flush();
        awaitForgedFirst(producer);
        WAITS.await(pipeline.stop());
      }
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        run(pipeline, producer, "behind", CORES);
        assertThat(names(pipeline)).containsExactlyInAnyOrder("main", "walk", "leaf");
        WAITS.await(pipeline.stop());
      }
    }
  }

  /** A producer may also take the good one away: its cores wait until it is announced again. */
  @Test
  void theContentThatWasUsedStaysWhereItWasDeleted() throws Exception {
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(GOOD);
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        run(pipeline, producer, "before", 1);
        WAITS.await(pipeline.stop());
      }
      bench.compactImages();
      send(ImageKey.of(GOOD.getBuildId(), ConfluentFrame.encode(GOOD)), null);
      forge();
      awaitForgedFirst(producer);
      try (Pipeline pipeline = PipelineService.start(bench.config())) {
        WAITS.await(
            "it is refused", () -> bench.scrape(pipeline).sum("retstack_images_refused_total") > 0);
        producer.image(GOOD);
        run(pipeline, producer, "behind", CORES);
        assertThat(names(pipeline)).containsExactlyInAnyOrder("main", "walk", "leaf");
        WAITS.await(pipeline.stop());
      }
    }
  }

  /** Segments are rolled by what is announced, and cleaned behind it. */
  private void awaitForgedFirst(TraceProducer producer) throws Exception {
    AtomicInteger filler = new AtomicInteger();
    WAITS.await(
        "compaction leaves the forged one first",
        () -> {
          producer.image(CoreScript.image("filler-" + filler.incrementAndGet(), "main"));
          producer.flush();
          for (var record : TopicReader.records(bench.kafka(), bench.topics().images())) {
            if (GOOD.getBuildId().equals(ImageKey.buildId(record.key()))) {
              return record.value() != null && Arrays.equals(record.value(), FORGED_IMAGE);
            }
          }
          return false;
        });
  }

  /** Where the place of the first is no longer known, the topic says which was the first. */
  @Test
  void aForgottenImageIsNotForgedEither() throws Exception {
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(GOOD);
      for (int i = 0; i < 20; i++) {
        producer.image(CoreScript.image("other-" + i, "main"));
      }
      PipelineConfig few = bench.config().but().imagePlaceBytes(2_000).build();
      try (Pipeline pipeline = PipelineService.start(few)) {
        forge();
        producer.image(CoreScript.image("last", "main"));
        WAITS.await(
            "all are read",
            () -> {
              var page = bench.scrape(pipeline);
              return page.sum("retstack_images") + page.sum("retstack_images_forgotten_total")
                  >= 22 + 1;
            });
        run(pipeline, producer, "session");
        assertThat(names(pipeline)).containsExactlyInAnyOrder("main", "walk", "leaf");
      }
    }
  }

  /** Records that {@link #forge} sends. */
  private static final int FORGED = 3;

  /** Under the key of its content, under one of another form, and under the key of the good one. */
  private void forge() throws Exception {
    List<byte[]> keys =
        List.of(
            ImageKey.of(GOOD.getBuildId(), FORGED_IMAGE),
            GOOD.getBuildId().getBytes(UTF_8),
            ImageKey.of(GOOD.getBuildId(), ConfluentFrame.encode(GOOD)));
    for (byte[] key : keys) {
      send(key, FORGED_IMAGE);
    }
  }

  private void send(byte[] key, byte[] value) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(bench.topics().images(), key, value)).get();
    }
  }

  private static byte[] forged() {
    List<Symbol> symbols = new ArrayList<>();
    for (Symbol symbol : GOOD.getSymbols()) {
      symbols.add(new Symbol("forged_" + symbol.getName(), symbol.getAddress(), symbol.getSize()));
    }
    return ConfluentFrame.encode(Image.newBuilder(GOOD).setSymbols(symbols).build());
  }

  /** More cores than partitions, so that each partition asks for the image. */
  private static void run(Pipeline pipeline, TraceProducer producer, String session)
      throws Exception {
    run(pipeline, producer, session, CORES);
  }

  private static void run(Pipeline pipeline, TraceProducer producer, String session, int count)
      throws Exception {
    List<CoreScript> cores = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      CoreScript core = new CoreScript(GOOD, session, session + "-" + i);
      core.enter("main").tick(3).enter("walk").tick(2).exit().enter("leaf").exit().exit().end();
      cores.add(core);
    }
    for (CoreScript core : cores) {
      for (Chunk chunk : core.chunks()) {
        producer.chunk(chunk);
      }
    }
    producer.flush();
    WAITS.await(
        pipeline.awaitCoresEnded(
            cores.stream()
                .map(core -> ChunkApplier.key(core.chunks().getFirst()))
                .collect(Collectors.toSet())));
  }

  private static Set<String> names(Pipeline pipeline) throws Exception {
    return WAITS.await(pipeline.view()).report(Optional.empty(), true).functions().stream()
        .map(row -> row.name())
        .collect(Collectors.toSet());
  }
}
