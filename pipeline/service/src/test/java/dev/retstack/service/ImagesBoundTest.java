package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Image;
import dev.retstack.schema.Profile;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.TraceProducer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** More images than a member may hold: those that went from memory are found again. */
@Order(1)
class ImagesBoundTest {
  private static final int IMAGES = 24;
  private static final int HELD = 3;
  private static final int HOSTILE = Integer.getInteger("retstack.images", 20_000);
  private static final int PLACE_BYTES = 256 << 10;
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));

  private final LiveBench bench = LiveBench.fresh();

  @Test
  void whatWentFromMemoryIsReadAgain() throws Exception {
    List<CoreScript> first = cores("first");
    List<CoreScript> second = cores("second");
    long bound = HELD * (long) ConfluentFrame.encode(first.getFirst().image()).length;
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      for (CoreScript core : first) {
        producer.image(core.image());
      }
      send(producer, first);
      try (Pipeline pipeline =
          PipelineService.start(bench.config().but().imageBytes(bound).build())) {
        awaitEnded(pipeline, first);
        assertThat(WAITS.await(pipeline.view()).report(Optional.empty(), false))
            .isEqualTo(ReportBuilder.of(States.of(first)).build());
        Scraped page = bench.scrape(pipeline);
        assertThat(page.sum("retstack_images")).isEqualTo(IMAGES);
        assertThat(page.sum("retstack_images_bytes"))
            .isPositive()
            .isLessThanOrEqualTo((double) bound);
        double again = page.sum("retstack_images_read_again_total");
        assertThat(again).isBetween(IMAGES - (double) HELD, (double) IMAGES);

        // other partitions hear of the same images
        send(producer, second);
        awaitEnded(pipeline, second);
        List<CoreScript> all = new ArrayList<>(first);
        all.addAll(second);
        assertThat(WAITS.await(pipeline.view()).report(Optional.empty(), false))
            .isEqualTo(ReportBuilder.of(States.of(all)).build());
        page = bench.scrape(pipeline);
        assertThat(page.sum("retstack_images_bytes"))
            .isPositive()
            .isLessThanOrEqualTo((double) bound);
        assertThat(page.sum("retstack_images_read_again_total")).isGreaterThan(again);
        assertThat(page.sum("retstack_chunks_total", "outcome", "refused")).isZero();
      }
    }
  }

  @Test
  void oneThatIsNoLongerInTheTopicIsRefusedWithThatReason() throws Exception {
    CoreScript early = core("gone", "early");
    CoreScript later = core("gone", "later");
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(early.image());
      try (Pipeline pipeline =
          PipelineService.start(
              bench.config().but().imageBytes(0).imagePatience(Duration.ofMillis(100)).build())) {
        deleteImages();
        send(producer, List.of(early));
        WAITS.await("a refusal", () -> !letters().isEmpty());
        assertThat(letters().getFirst().getReason())
            .contains("is no longer in topic " + bench.topics().images())
            .contains("partition 0, offset 0", "publish it again");

        producer.image(early.image());
        producer.image(CoreScript.image("behind-it", "main"));
        WAITS.await("images", () -> bench.scrape(pipeline).sum("retstack_images") == 2);
        send(producer, List.of(later));
        awaitEnded(pipeline, List.of(later));
      }
    }
  }

  /** Only the core waits whose image is not there; what waits is in the checkpoint. */
  @Test
  void othersGoOnWhileOneWaits() throws Exception {
    CoreScript late = core("comes-late", "late");
    CoreScript never = core("never-came", "never");
    List<CoreScript> others = cores("others").subList(0, 6);
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      for (CoreScript core : others) {
        producer.image(core.image());
      }
      send(producer, List.of(late, never));
      send(producer, others);
      Pipeline first = PipelineService.start(bench.config());
      awaitEnded(first, others);
      bench.awaitScrape(
          first,
          page ->
              page.sum("retstack_waiting_for_image") == 4
                  && page.sum("retstack_lag_chunks") == 4
                  && page.sum("retstack_checkpoint_behind_chunks") == 0);
      try (LiveClient client = new LiveClient(first.httpUri())) {
        assertThat(client.get("parts", Map.of("format", "text")))
            .contains("comes-late", "never-came");
      }
      WAITS.await(first.stop());

      producer.image(late.image());
      try (Pipeline second =
          PipelineService.start(
              bench.config().but().imagePatience(Duration.ofSeconds(1)).build())) {
        awaitEnded(second, List.of(late));
        awaitEnded(second, others);
        WAITS.await("refusals", () -> letters().size() == never.chunks().size());
        List<CoreScript> all = new ArrayList<>(others);
        all.add(late);
        Report report = WAITS.await(second.view()).report(Optional.empty(), false);
        assertThat(report.functions())
            .isEqualTo(ReportBuilder.of(States.of(all)).build().functions());
        assertThat(letters())
            .allSatisfy(
                letter ->
                    assertThat(letter.getReason()).contains("never-came", "did not come within"));
        bench.awaitScrape(
            second,
            page ->
                page.sum("retstack_waiting_for_image") == 0
                    && page.sum("retstack_checkpoint_behind_chunks") == 0);
      }
    }
  }

  /** A core that maps an image waits for it, and continues without the names if it never comes. */
  @Test
  void whatACoreMapsIsWaitedForLikeItsOwnImage() throws Exception {
    Image image = CoreScript.image("maps-others", "main", "first", "second");
    CoreScript late = new CoreScript(image, "s", "late");
    CoreScript never = new CoreScript(image, "s", "never");
    late.enter("main").map("object-late", "first", 0x1000).enter("first").tick(2).exit().chunk();
    late.enter("first").tick(1).exit().exit().end();
    never.enter("main").map("object-never", "second", 0x40).enter("second").exit().exit().end();
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(image);
      send(producer, List.of(late, never));
      Pipeline first = PipelineService.start(bench.config());
      bench.awaitScrape(first, page -> page.sum("retstack_waiting_for_image") == 3);
      try (LiveClient client = new LiveClient(first.httpUri())) {
        assertThat(client.get("parts", Map.of("format", "text")))
            .contains("object-late", "object-never");
      }
      WAITS.await(first.stop());

      Image object = CoreScript.image("object-late", "inside");
      object.getSymbols().forEach(symbol -> symbol.setAddress(0x1000L));
      producer.image(object);
      try (Pipeline second =
          PipelineService.start(
              bench.config().but().imagePatience(Duration.ofSeconds(1)).build())) {
        awaitEnded(second, List.of(late, never));
        Report report = WAITS.await(second.view()).report(Optional.empty(), false);
        assertThat(report.functions())
            .extracting(row -> row.image() + " " + row.name(), row -> row.calls())
            .containsExactlyInAnyOrder(
                tuple("maps-others.elf main", 2L),
                tuple("object-late.elf inside", 2L),
                tuple("object-n object-n+0x40", 1L));
        assertThat(letters()).isEmpty();
      }
    }
    assertThat(TopicReader.values(bench.kafka(), bench.topics().profiles()))
        .map(row -> ConfluentFrame.decode(row, Profile.class))
        .filteredOn(row -> row.getCaller() != null && row.getFunction().equals("inside"))
        .extracting(Profile::getImage, Profile::getSelfpc, Profile::getCallerImage)
        .containsOnly(tuple("object-late", "0x1000", "maps-others"));
  }

  /** Hostile: cores that each name an image that is not there, more than there is room for. */
  @Test
  void manyMissingImagesNeitherStopNorFillAPartition() throws Exception {
    int hostile = 3_000;
    List<CoreScript> others = cores("others").subList(0, 3);
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      for (CoreScript core : others) {
        producer.image(core.image());
      }
      sendMissing(hostile);
      send(producer, others);
      try (Pipeline pipeline =
          PipelineService.start(bench.config().but().waitingBytes(1 << 20).build())) {
        awaitEnded(pipeline, others);
        Scraped page =
            bench.awaitScrape(
                pipeline,
                p ->
                    p.sum("retstack_chunks_total", "outcome", "refused")
                            + p.sum("retstack_waiting_for_image")
                        == hostile);
        assertThat(page.sum("retstack_waiting_for_image")).isBetween(100.0, 3 * 700.0);
        WAITS.await("a letter", () -> !letters().isEmpty());
        assertThat(letters().getFirst().getReason()).contains("there is no room to wait longer");
      }
    }
  }

  /** Hostile: so many images that there is no room for where they stand. */
  @Test
  void whatWasForgottenIsSearchedInTheTopic() throws Exception {
    CoreScript before = core("before-all", "early");
    CoreScript behind = core("behind-all", "late");
    CoreScript never = core("never-came", "never");
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(before.image());
      announceMany();
      producer.image(behind.image());
      try (Pipeline pipeline =
          PipelineService.start(
              bench
                  .config()
                  .but()
                  .imageBytes(0)
                  .imagePlaceBytes(PLACE_BYTES)
                  .imagePatience(Duration.ofMillis(100))
                  .build())) {
        Scraped page = bench.scrape(pipeline);
        assertThat(page.sum("retstack_images")).isBetween(1.0, PLACE_BYTES / 200.0);
        assertThat(page.sum("retstack_images") + page.sum("retstack_images_forgotten_total"))
            .isEqualTo(HOSTILE + 2.0);
        assertThat(page.sum("retstack_images_searches_total")).isZero();

        send(producer, List.of(before, behind));
        awaitEnded(pipeline, List.of(before, behind));
        assertThat(WAITS.await(pipeline.view()).report(Optional.empty(), false))
            .isEqualTo(ReportBuilder.of(States.of(List.of(before, behind))).build());
        page = bench.scrape(pipeline);
        assertThat(page.sum("retstack_images_searches_total")).isEqualTo(1);

        send(producer, List.of(never));
        WAITS.await("a refusal", () -> letters().size() == never.chunks().size());
        assertThat(letters().getFirst().getReason()).contains("never-came", "did not come within");
      }
    }
  }

  private void sendMissing(int count) throws Exception {
    RecordBatch none = new RecordBatch(0);
    Chunk.Builder like = Chunk.newBuilder(core("any", "any").chunks().getFirst());
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < count; i++) {
        String name = "none-%0200d".formatted(i);
        like.setSession(name).setCore(name).setImage(name);
        Chunk chunk = Chunks.seal(like, Codecs.byId(like.getCodec()), none);
        var _ =
            producer.send(
                new ProducerRecord<>(
                    bench.topics().events(), name.getBytes(UTF_8), ConfluentFrame.encode(chunk)));
      }
    }
  }

  /** As a producer does that waits for nothing. */
  private void announceMany() {
    Image.Builder image = Image.newBuilder(CoreScript.image("hostile"));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < HOSTILE; i++) {
        String buildId = "hostile-" + i;
        byte[] message = ConfluentFrame.encode(image.setBuildId(buildId).build());
        var _ =
            producer.send(
                new ProducerRecord<>(
                    bench.topics().images(), ImageKey.of(buildId, message), message));
      }
    }
  }

  private static List<CoreScript> cores(String session) {
    List<CoreScript> cores = new ArrayList<>();
    for (int i = 0; i < IMAGES; i++) {
      cores.add(core("image-%02d".formatted(i), session));
    }
    return cores;
  }

  private static CoreScript core(String buildId, String session) {
    Image image = CoreScript.image(buildId, "main", buildId + "_walk", "leaf");
    CoreScript core = new CoreScript(image, session, session + "-" + buildId);
    core.enter("main").tick(3).enter(buildId + "_walk").tick(2).exit().chunk();
    return core.enter("leaf").tick(1).exit().exit().end();
  }

  private static void send(TraceProducer producer, List<CoreScript> cores) throws Exception {
    for (CoreScript core : cores) {
      for (Chunk chunk : core.chunks()) {
        producer.chunk(chunk);
      }
    }
    producer.flush();
  }

  private static void awaitEnded(Pipeline pipeline, List<CoreScript> cores) throws Exception {
    WAITS.await(
        pipeline.awaitCoresEnded(
            cores.stream()
                .map(core -> ChunkApplier.key(core.chunks().getFirst()))
                .collect(Collectors.toSet())));
  }

  /** As an operator can who has the topic's policy changed; compaction alone never does. */
  private void deleteImages() throws Exception {
    String topic = bench.topics().images();
    try (Admin admin = Admin.create(bench.kafka().admin())) {
      admin
          .incrementalAlterConfigs(
              Map.of(
                  new ConfigResource(ConfigResource.Type.TOPIC, topic),
                  List.of(
                      new AlterConfigOp(
                          new ConfigEntry(TopicConfig.CLEANUP_POLICY_CONFIG, "compact,delete"),
                          AlterConfigOp.OpType.SET))))
          .all()
          .get();
      WAITS.await("the policy reaches the log", () -> isDeleted(admin, topic));
    }
  }

  private static boolean isDeleted(Admin admin, String topic) throws Exception {
    var first = Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(1));
    try {
      admin.deleteRecords(first).all().get();
      return true;
    } catch (ExecutionException e) {
      assertThat(e).hasCauseInstanceOf(PolicyViolationException.class);
      return false;
    }
  }

  private List<DeadLetter> letters() throws Exception {
    List<DeadLetter> letters = new ArrayList<>();
    for (byte[] value : TopicReader.values(bench.kafka(), bench.topics().deadLetters())) {
      letters.add(ConfluentFrame.decode(value, DeadLetter.class));
    }
    return letters;
  }
}
