package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.answers.support.States;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.publish.PublishedRecord;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.TraceProducer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A session of which nothing comes while the log goes on leaves the state of a member, whole and
 * counted; what was published of it stays, and what comes of it later begins nothing anew.
 */
class ForgottenSessionsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long STEP = Duration.ofMinutes(10).toMillis();
  private static final Duration KEEP = Duration.ofHours(1);
  private static final Duration WAIT = Duration.ofMinutes(2);

  private final List<CoreScript> silent = RandomFleet.of(77, 3, 400);
  private final List<CoreScript> going = RandomFleet.of(78, 1, 4_000);
  private final Topics topics = new Topics(TestBroker.freshPrefix());
  private KafkaSettings kafka;
  private KafkaProducer<byte[], byte[]> producer;
  private long time = System.currentTimeMillis() - Duration.ofDays(2).toMillis();

  @AfterEach
  void stop() {
    if (producer != null) {
      producer.close();
    }
  }

  @Test
  void aSilentSessionIsForgottenByTheLogsTime() throws Exception {
    kafka = KafkaSettings.of(TestBroker.bootstrap());
    makeTopics();
    publish(images().toList());
    producer =
        new KafkaProducer<>(kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer());
    List<Chunk> rest = going.getFirst().chunks();
    assertThat(rest).hasSizeGreaterThan(20);
    long silentRecords = 0;
    try (Pipeline pipeline = start("one", Duration.ofMillis(100))) {
      for (CoreScript core : silent) {
        for (Chunk chunk : core.chunks()) {
          // one of its cores never ends
          if (core != silent.getFirst() || !chunk.equals(core.chunks().getLast())) {
            send(chunk, 10);
            silentRecords += chunk.getRecordCount();
          }
        }
      }
      await(pipeline, "cores", "3");
      for (Chunk chunk : rest.subList(0, 10)) {
        send(chunk, STEP);
      }
      JsonNode stats = await(pipeline, "sessions", "1");
      assertThat(stats.get("forgotten").get("cores").asLong()).isEqualTo(3);
      assertThat(stats.get("forgotten").get("records").asLong()).isEqualTo(silentRecords);
      assertThat(stats.get("forgotten").get("since").asLong()).isPositive();
      try (LiveClient client = new LiveClient(pipeline.httpUri())) {
        assertThat(client.get("metrics", Map.of()))
            .contains("retstack_forgotten_sessions{partition=\"0\"} 1")
            .contains("retstack_forgotten_cores{partition=\"0\"} 3");
        for (String path : List.of("stats", "report", "completeness")) {
          assertThat(client.get(path, Map.of("format", "text")))
              .as(path)
              .contains("forgotten since 20", ": 1 session with 3 cores and ");
          assertThat(JSON.readTree(client.get(path, Map.of())).get("forgotten"))
              .as(path)
              .isEqualTo(stats.get("forgotten"));
        }
      }
      assertThat(pipeline.progress().toCompletableFuture().get(1, TimeUnit.MINUTES)).hasSize(1);
    }
    // what comes late of it, and of a core of it that nobody knew
    send(silent.getLast().chunks().getFirst(), 0);
    for (Chunk chunk : rest.subList(10, rest.size())) {
      send(chunk, 1);
    }
    // the same member again, and one that reads all at once, whose only checkpoint is its last
    List<String> hashes = List.of(finish("one", Duration.ofMillis(100)), finish("two", WAIT));
    String alone = ReportBuilder.of(States.of(going)).build().resultHash();
    assertThat(hashes).containsExactly(alone, alone);
    List<byte[]> letters = letters(2);
    for (byte[] letter : letters) {
      assertThat(ConfluentFrame.decode(letter, DeadLetter.class).getReason())
          .contains("is forgotten", "--keep-ended");
    }
    List<ConsumerRecord<byte[], byte[]>> profiles =
        TopicReader.records(kafka, topics.profiles()).stream()
            .filter(row -> new String(row.key(), UTF_8).startsWith(silent.getFirst().session()))
            .toList();
    assertThat(profiles).isNotEmpty().allMatch(row -> row.value() != null);
  }

  /** A group forgets the same, and refuses the same, in whatever order the images come. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void imagesThatComeLateChangeNothing(boolean lateIsSilent) throws Exception {
    kafka = KafkaSettings.of(TestBroker.bootstrap());
    makeTopics();
    producer =
        new KafkaProducer<>(kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer());
    Image late = (lateIsSilent ? silent.getLast() : going.getFirst()).image();
    publish(images().filter(image -> !image.equals(late)).toList());
    List<Chunk> rest = going.getFirst().chunks();
    long waiting = lateIsSilent ? 0 : rest.size();
    for (CoreScript core : silent) {
      for (Chunk chunk : core.chunks()) {
        send(chunk, 10);
        waiting += chunk.getImage().equals(late.getBuildId()) ? 1 : 0;
      }
    }
    String waits = "retstack_waiting_for_image{partition=\"0\"} " + waiting + ".0\n";
    for (Chunk chunk : rest.subList(0, 10)) {
      send(chunk, STEP);
    }
    send(silent.getLast().chunks().getFirst(), 0);
    for (Chunk chunk : rest.subList(10, rest.size())) {
      send(chunk, 1);
    }
    try (Pipeline pipeline = start("late", Duration.ofMillis(100))) {
      try (LiveClient client = new LiveClient(pipeline.httpUri())) {
        long began = System.nanoTime();
        String metrics = client.get("metrics", Map.of());
        while (!metrics.contains(waits)) {
          Waits.pause(began, WAIT, "no %s in%n%s".formatted(waits, metrics));
          metrics = client.get("metrics", Map.of());
        }
      }
      publish(List.of(late));
      assertThat(resultHash(pipeline))
          .isEqualTo(ReportBuilder.of(States.of(going)).build().resultHash());
    }
    assertThat(ConfluentFrame.decode(letters(1).getFirst(), DeadLetter.class).getReason())
        .contains("is forgotten");
  }

  /**
   * Reads until there are that many: a broker shows a transaction a moment after it is committed.
   */
  private List<byte[]> letters(int count) {
    long end = System.nanoTime() + WAIT.toNanos();
    List<byte[]> letters;
    do {
      letters = TopicReader.values(kafka, topics.deadLetters());
    } while (letters.size() < count && System.nanoTime() < end);
    assertThat(letters).hasSize(count);
    return letters;
  }

  private String finish(String group, Duration checkpoints) throws Exception {
    try (Pipeline pipeline = start(group, checkpoints)) {
      return resultHash(pipeline);
    }
  }

  /** The hash once the one core has ended, and the silent session is forgotten. */
  private String resultHash(Pipeline pipeline) throws Exception {
    CoreKey core = new CoreKey(going.getFirst().session(), going.getFirst().core());
    var _ = pipeline.awaitCoresEnded(Set.of(core)).toCompletableFuture().get(2, TimeUnit.MINUTES);
    await(pipeline, "sessions", "1");
    try (LiveClient client = new LiveClient(pipeline.httpUri())) {
      return JSON.readTree(client.get("report", Map.of("format", "json")))
          .get("resultHash")
          .asText();
    }
  }

  private Pipeline start(String group, Duration checkpoints) throws Exception {
    return PipelineService.start(
        PipelineConfig.of(kafka)
            .but()
            .topics(topics)
            .groupId(topics.prefix() + group)
            .checkpoints(checkpoints, 10_000)
            .totalsInterval(Duration.ZERO) // only published totals are forgotten
            .keepEnded(KEEP)
            .build());
  }

  /** Topics whose time is what the producer says. */
  private void makeTopics() throws Exception {
    try (Admin admin = Admin.create(kafka.admin())) {
      NewTopic events = new NewTopic(topics.events(), Optional.of(1), Optional.empty());
      var config = Map.of("message.timestamp.type", "CreateTime", "retention.ms", "-1");
      admin.createTopics(List.of(events.configs(config))).all().get(1, TimeUnit.MINUTES);
    }
    try (TopicAdmin admin = new TopicAdmin(kafka, WAIT)) {
      admin.ensure(topics, 1);
    }
  }

  private Stream<Image> images() {
    return Stream.concat(silent.stream(), going.stream()).map(CoreScript::image).distinct();
  }

  private void publish(List<Image> images) throws Exception {
    try (TraceProducer producer = new TraceProducer(kafka, topics)) {
      for (Image image : images) {
        producer.image(image);
      }
    }
  }

  /** Sends a chunk so long after the one before, by the log's time. */
  private void send(Chunk chunk, long millisLater) throws Exception {
    time += millisLater;
    ProducerRecord<byte[], byte[]> made =
        PublishedRecord.of(topics.events(), 0, chunk.getCore().getBytes(UTF_8), chunk);
    producer
        .send(new ProducerRecord<>(made.topic(), 0, time, made.key(), made.value(), made.headers()))
        .get(1, TimeUnit.MINUTES);
  }

  /** Asks until so many of it are there, or forgotten. */
  private static JsonNode await(Pipeline pipeline, String what, String count) throws Exception {
    long began = System.nanoTime();
    try (LiveClient client = new LiveClient(pipeline.httpUri())) {
      while (true) {
        JsonNode stats = JSON.readTree(client.get("stats", Map.of("format", "json")));
        int found =
            what.equals("cores")
                ? JSON.readTree(client.get("cores", Map.of("format", "json"))).get("cores").size()
                : stats.get("forgotten").get("sessions").asInt();
        if (found == Integer.parseInt(count)) {
          return stats;
        }
        Waits.pause(began, WAIT, "%d %s: %s".formatted(found, what, stats));
      }
    }
  }
}
