package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.question.View;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Profile;
import dev.retstack.schema.Span;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.KafkaToTrace;
import dev.retstack.service.transfer.TraceProducer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pipeline against a real broker: whatever happens, the result is that of a plain replay. */
@Order(1)
class PipelineTest {
  private static final int PARTITIONS = 3;
  private static final long SEED = 20263;

  private final List<CoreScript> fleet = RandomFleet.of(SEED, 6, 3_000);
  private KafkaSettings kafka;
  private Topics topics;
  private PipelineConfig config;

  @BeforeEach
  void createTopics() throws Exception {
    kafka = KafkaSettings.of(TestBroker.bootstrap());
    topics = new Topics(TestBroker.freshPrefix());
    config =
        PipelineConfig.of(kafka)
            .but()
            .topics(topics)
            .groupId(topics.prefix())
            .partitions(PARTITIONS)
            .checkpoints(Duration.ofMillis(300), 20)
            .build();
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, PARTITIONS);
    }
  }

  @Test
  void liveGivesWhatReplayGives(@TempDir Path dir) throws Exception {
    produce(fleet, 0, 1);
    GraphState expected = States.of(fleet);
    try (Pipeline pipeline = PipelineService.start(config.but().spanThreshold(50).build())) {
      WAITS.await(pipeline.awaitCoresEnded(fleet.size()));

      assertThat(report(pipeline)).isEqualTo(ReportBuilder.of(expected).build());
      checkHttp(pipeline, ReportBuilder.of(expected).build());
    }
    checkDerived(expected);
    Path file = dir.resolve("copy.avro");
    KafkaToTrace.Copied copied =
        KafkaToTrace.copy(kafka, topics, file, TraceReplay.Progress.SILENT);
    assertThat(copied.refused()).isZero();
    assertThat(
            ReportBuilder.of(TraceReplay.read(file, TraceReplay.Progress.SILENT).state())
                .build()
                .resultHash())
        .isEqualTo(ReportBuilder.of(expected).build().resultHash());
  }

  @Test
  void anOrderlyRestartInMidStreamChangesNothing() throws Exception {
    restart(pipeline -> WAITS.await(pipeline.stop()));
  }

  @Test
  void aCrashInMidStreamChangesNothing() throws Exception {
    restart(pipeline -> WAITS.await(pipeline.abort()));
  }

  /** A feed that was assigned and did not run yet was forgotten: the stop took two minutes. */
  @Test
  void aMemberThatIsStoppedWhileItJoinsStopsSoon() throws Exception {
    produce(fleet, 0, 1);
    for (int i = 0; i < 4; i++) {
      Pipeline joining = PipelineService.start(config);
      joining.stop().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
  }

  private interface Stop {
    void accept(Pipeline pipeline) throws Exception;
  }

  private void restart(Stop stop) throws Exception {
    produce(fleet, 0, 0.6);
    Pipeline first = PipelineService.start(config);
    long halfway = 0;
    for (CoreScript core : fleet) {
      halfway += (long) (core.chunks().size() * 0.4);
    }
    long enough = halfway;
    awaitChunks(first, enough);
    stop.accept(first);
    produce(fleet, 0.6, 1);
    try (Pipeline second = PipelineService.start(config)) {
      WAITS.await(second.awaitCoresEnded(fleet.size()));
      assertThat(report(second)).isEqualTo(ReportBuilder.of(States.of(fleet)).build());
    }
    checkDerived(States.of(fleet));
  }

  @Test
  void poisonGoesToDeadLettersAndNothingElseNotices() throws Exception {
    CoreScript stranger =
        new CoreScript(CoreScript.image("never-published", "main"), "s", "stranger");
    stranger.enter("main").tick(1).exit().end();
    produce(fleet, 0, 0.5);
    Chunk changed = Chunk.newBuilder(fleet.getFirst().chunks().getFirst()).build();
    changed.setRecordCount(changed.getRecordCount() + 1);
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] key = "poison".getBytes(UTF_8);
      for (byte[] value :
          List.of(
              "not a chunk".getBytes(UTF_8),
              new byte[0],
              ConfluentFrame.encode(changed),
              ConfluentFrame.encode(stranger.image()),
              ConfluentFrame.encode(stranger.chunks().getFirst()))) {
        producer.send(new ProducerRecord<>(topics.events(), key, value)).get();
      }
    }
    produce(fleet, 0.5, 1);
    try (Pipeline pipeline =
        PipelineService.start(config.but().imagePatience(Duration.ofMillis(200)).build())) {
      WAITS.await(pipeline.awaitCoresEnded(fleet.size()));
      WAITS.await(pipeline.stop());
    }
    List<DeadLetter> letters = decoded(topics.deadLetters(), DeadLetter.class);
    assertThat(letters).hasSize(5);
    assertThat(letters.getFirst().getValue().array()).asString(UTF_8).isEqualTo("not a chunk");
    assertThat(letters)
        .allSatisfy(
            letter -> assertThat(letter.getKey().array()).asString(UTF_8).isEqualTo("poison"))
        .anySatisfy(letter -> assertThat(letter.getReason()).contains("never-published"));
    try (Pipeline again = PipelineService.start(config)) {
      WAITS.await(again.awaitCoresEnded(fleet.size()));
      assertThat(report(again).resultHash())
          .isEqualTo(ReportBuilder.of(States.of(fleet)).build().resultHash());
    }
  }

  @Test
  void membersShareThePartitionsAndTogetherGiveTheSame() throws Exception {
    produce(fleet, 0, 0.5);
    try (Pipeline one = PipelineService.start(config)) {
      awaitChunks(one, 10);
      try (Pipeline two = PipelineService.start(config)) {
        awaitOwned(one, two);
        produce(fleet, 0.5, 1);
        Report merged = awaitMerged(one, two);
        WAITS.await(
            "each knows the cores of its own partitions only",
            () -> knowsItsOwn(one) && knowsItsOwn(two));
        assertThat(merged.resultHash())
            .isEqualTo(ReportBuilder.of(States.of(fleet)).build().resultHash());
      }
      // the partitions of the member that left come back, with what it had
      WAITS.await(one.awaitCoresEnded(fleet.size()));
      WAITS.await(
          "all partitions are back",
          () -> WAITS.await(one.openPartitions(LOOK)).size() == PARTITIONS);
      assertThat(report(one)).isEqualTo(ReportBuilder.of(States.of(fleet)).build());
    }
  }

  private static boolean knowsItsOwn(Pipeline member) throws Exception {
    List<Integer> own = WAITS.await(member.openPartitions(LOOK));
    return WAITS.await(member.progress()).stream().allMatch(core -> own.contains(core.partition()));
  }

  @Test
  void aTakenPortIsNamedWithACure() throws Exception {
    try (Pipeline first = PipelineService.start(config)) {
      int port = first.httpUri().getPort();
      PipelineConfig same = config.but().http("127.0.0.1", port).build();
      assertThatThrownBy(() -> PipelineService.start(same))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("127.0.0.1:" + port)
          .hasMessageContaining("choose another port");
    }
    assertThatThrownBy(() -> config.but().http("0.0.0.0", 0).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("127.0.0.1");
  }

  private void checkHttp(Pipeline pipeline, Report expected) throws Exception {
    ObjectMapper json = new ObjectMapper();
    try (LiveClient client = new LiveClient(pipeline.httpUri())) {
      JsonNode report = json.readTree(client.get("report", Map.of()));
      assertThat(report.path("resultHash").asText()).isEqualTo(expected.resultHash());
      assertThat(report.path("partitions").path("owned")).hasSize(PARTITIONS);
      assertThat(report.path("partitions").path("of").asInt()).isEqualTo(PARTITIONS);
      assertThat(client.get("report", Map.of("format", "text")))
          .contains("% complete")
          .contains("fib");
      assertThat(client.get("graph", Map.of("format", "text", "core", "core-1", "depth", "2")))
          .contains("core core-1")
          .doesNotContain("core core-2");
      assertThat(json.readTree(client.get("graph", Map.of("core", "core-1")))).hasSize(1);
      assertThat(json.readTree(client.get("anomalies", Map.of("kind", "FRAME_POINTER_MISMATCH"))))
          .isNotEmpty();
      assertThat(json.readTree(client.get("cores", Map.of())).path("cores")).hasSize(fleet.size());
      assertThat(client.get("stats", Map.of("format", "csv"))).startsWith("name,severity");
      assertThat(client.get("health/live", Map.of())).contains("live");
      assertThat(client.get("health/ready", Map.of())).contains("ready");
      assertThatThrownBy(() -> client.get("graph", Map.of("core", "nobody")))
          .hasMessageContaining("no core nobody")
          .hasMessageContaining("GET /cores");
      assertThatThrownBy(() -> client.get("report", Map.of("format", "xml")))
          .hasMessageContaining("use json, csv or text");
      assertThatThrownBy(() -> client.get("nothing", Map.of())).hasMessageContaining("no such");
      checkRegistry(client, json);
    }
  }

  /** A registry client's way: id from the frame, schema by id, subject by topic. */
  private void checkRegistry(LiveClient client, ObjectMapper json) throws Exception {
    String subject = topics.anomalies() + "-value";
    assertThat(json.readTree(client.get("subjects", Map.of())))
        .extracting(JsonNode::asText)
        .contains(subject);
    JsonNode latest =
        json.readTree(client.get("subjects/" + subject + "/versions/latest", Map.of()));
    int id = java.nio.ByteBuffer.wrap(ConfluentFrame.encode(anomaly())).getInt(1);
    assertThat(latest.path("id").asInt()).isEqualTo(id);
    JsonNode schema = json.readTree(client.get("schemas/ids/" + id, Map.of()));
    assertThat(
            new org.apache.avro.SchemaParser().parse(schema.path("schema").asText()).mainSchema())
        .isEqualTo(Anomaly.getClassSchema());
    assertThatThrownBy(() -> client.get("schemas/ids/1", Map.of())).hasMessageContaining("40403");
  }

  private static Anomaly anomaly() {
    return Anomaly.newBuilder()
        .setSession("s")
        .setCore("c")
        .setImage("i")
        .setIsa("x86_64")
        .setKind("LOST")
        .setSeverity("ERROR")
        .setTime(1)
        .setChunk(0)
        .build();
  }

  /** Each finding stands once on its topic, and the totals add up. */
  private void checkDerived(GraphState expected) throws Exception {
    assertThat(decoded(topics.anomalies(), Anomaly.class))
        .extracting(Anomaly::getCore, a -> a.getKind(), a -> a.getTime(), a -> a.getMessage())
        .containsExactlyInAnyOrderElementsOf(
            ReportBuilder.of(expected).anomalies().stream()
                .map(
                    a ->
                        org.assertj.core.api.Assertions.tuple(
                            a.core(), a.kind().name(), a.time(), a.message()))
                .toList());
    Map<String, Profile> last = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> row : TopicReader.records(kafka, topics.profiles())) {
      last.put(new String(row.key(), UTF_8), ConfluentFrame.decode(row.value(), Profile.class));
    }
    long calls =
        last.values().stream()
            .filter(row -> row.getCaller() == null)
            .mapToLong(Profile::getCalls)
            .sum();
    assertThat(calls)
        .isEqualTo(
            ReportBuilder.of(expected).build().functions().stream()
                .mapToLong(row -> row.calls())
                .sum());
    assertThat(decoded(topics.spans(), Span.class))
        .allMatch(span -> span.getExit() - span.getEnter() >= 50);
    assertThat(TopicReader.records(kafka, topics.anomalies()).getFirst().headers())
        .extracting(header -> header.key())
        .contains("content-type", "schema-fingerprint", "session", "isa");
  }

  private <T extends AvroRecord> List<T> decoded(String topic, Class<T> type) throws Exception {
    List<T> values = new java.util.ArrayList<>();
    for (byte[] value : TopicReader.values(kafka, topic)) {
      values.add(ConfluentFrame.decode(value, type));
    }
    return values;
  }

  /** Sends the chunks of each core from one part of its way to another, core by turns. */
  private void produce(List<CoreScript> cores, double from, double to) throws Exception {
    try (TraceProducer producer = new TraceProducer(kafka, topics)) {
      for (CoreScript core : cores) {
        producer.image(core.image());
      }
      int longest = cores.stream().mapToInt(core -> core.chunks().size()).max().orElseThrow();
      for (int i = 0; i < longest; i++) {
        for (CoreScript core : cores) {
          int size = core.chunks().size();
          if (i >= (int) (size * from) && i < (int) (size * to)) {
            producer.chunk(core.chunks().get(i));
          }
        }
      }
      producer.flush();
    }
  }

  /** A partition that stops while it is asked does not answer: it is asked again. */
  private static final Duration LOOK = Duration.ofSeconds(5);

  private static final Waits WAITS = new Waits(Duration.ofMinutes(3));

  private static void awaitChunks(Pipeline pipeline, long chunks) throws Exception {
    WAITS.await(
        chunks + " chunks",
        () ->
            WAITS.await(pipeline.progress()).stream().mapToLong(core -> core.chunks()).sum()
                >= chunks);
  }

  private static void awaitOwned(Pipeline one, Pipeline two) throws Exception {
    WAITS.await(
        "each member has a partition",
        () -> {
          List<Integer> ofOne = WAITS.await(one.openPartitions(LOOK));
          List<Integer> ofTwo = WAITS.await(two.openPartitions(LOOK));
          return !ofTwo.isEmpty() && ofOne.size() + ofTwo.size() == PARTITIONS;
        });
  }

  private Report awaitMerged(Pipeline one, Pipeline two) throws Exception {
    Report[] merged = new Report[1];
    WAITS.await(
        "all cores end",
        () -> {
          ReportBuilder builder = new ReportBuilder();
          for (Pipeline member : List.of(one, two)) {
            WAITS
                .await(member.view())
                .partitions()
                .forEach(partition -> builder.add(partition.state()));
          }
          merged[0] = builder.build();
          return merged[0].cores().size() == fleet.size()
              && merged[0].cores().stream().allMatch(core -> core.end().name().equals("HALTED"));
        });
    return merged[0];
  }

  private static Report report(Pipeline pipeline) throws Exception {
    View view = WAITS.await(pipeline.view());
    assertThat(view.coverage().complete()).isTrue();
    return view.report(Optional.empty(), false);
  }
}
