package dev.retstack.service.query;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.QueryGate;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.kafka.EndOffsets;
import dev.retstack.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.kafka.ConsumerSettings;
import org.apache.pekko.kafka.Subscriptions;
import org.apache.pekko.kafka.javadsl.Consumer;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * New anomalies as server-sent events, of all members of all groups: what is committed to the
 * anomalies topic from now on, each once. The id of an event is the position after it in every
 * partition ({@code 0:12,1:7}). A client that sends it back as {@code Last-Event-ID} continues
 * there.
 */
public final class AnomalyEvents {
  /** Keeps connections open that have nothing to say. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  private static final ByteString BEAT = ByteString.fromString(":\n\n");
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final ActorSystem<?> system;
  private final KafkaSettings kafka;
  private final String topic;
  private final EndOffsets ends;
  private final QueryGate gate;

  /**
   * Nobody follows yet.
   *
   * @param ends of the anomalies topic, committed records only
   */
  public AnomalyEvents(
      ActorSystem<?> system, KafkaSettings kafka, String topic, EndOffsets ends, int followersMax) {
    this.system = system;
    this.kafka = kafka;
    this.topic = topic;
    this.ends = ends;
    this.gate = new QueryGate("followers", followersMax, new AtomicInteger());
  }

  /**
   * A stream that ends when its reader goes.
   *
   * @param parameters {@code core}, {@code task}, {@code kind}
   * @param lastId where to continue; empty for now
   * @throws BadRequestException where too many follow, or the id is none
   */
  CompletionStage<Source<ByteString, NotUsed>> follow(
      Map<String, String> parameters, Optional<String> lastId) {
    return (lastId.isPresent() ? ends.askAgain() : ends.ask())
        .thenCompose(
            found ->
                found
                    .map(CompletableFuture::completedFuture)
                    .orElseGet(
                        () ->
                            CompletableFuture.failedFuture(
                                new BadRequestException(
                                    503,
                                    "kafka does not answer with the ends of " + topic,
                                    "ask again in a moment"))))
        .thenApply(end -> stream(lastId.map(id -> positions(id, end)).orElse(end), parameters));
  }

  private Source<ByteString, NotUsed> stream(
      Map<Integer, Long> from, Map<String, String> parameters) {
    return gate.stream(() -> running(from, parameters));
  }

  private Source<ByteString, NotUsed> running(
      Map<Integer, Long> from, Map<String, String> parameters) {
    Map<TopicPartition, Long> start = new HashMap<>();
    from.forEach((partition, offset) -> start.put(new TopicPartition(topic, partition), offset));
    Map<Integer, Long> next = new TreeMap<>(from);
    return Consumer.plainSource(consumer(), Subscriptions.assignmentWithOffset(start))
        .map(record -> event(record, next, parameters))
        .filterNot(ByteString::isEmpty)
        .keepAlive(HEARTBEAT, () -> BEAT)
        // headers go out with the first bytes
        .prepend(Source.single(BEAT))
        .mapMaterializedValue(_ -> NotUsed.getInstance());
  }

  private static ByteString event(
      ConsumerRecord<byte[], byte[]> record,
      Map<Integer, Long> next,
      Map<String, String> parameters) {
    next.put(record.partition(), record.offset() + 1);
    Anomaly anomaly;
    try {
      anomaly = ConfluentFrame.decode(record.value(), Anomaly.class);
    } catch (CorruptChunkException e) {
      return ByteString.emptyByteString(); // somebody else's record: not an anomaly
    }
    boolean wanted =
        parameters.getOrDefault("core", anomaly.getCore()).equals(anomaly.getCore())
            && parameters.getOrDefault("kind", anomaly.getKind()).equals(anomaly.getKind())
            && new TaskChoice(parameters.getOrDefault("task", ""))
                .has(anomaly.getTaskId(), taskName(anomaly));
    return wanted
        ? ByteString.fromString(
            Visible.lines(
                "id: %s\nevent: anomaly\ndata: %s\n\n".formatted(id(next), json(anomaly))))
        : ByteString.emptyByteString();
  }

  /** Its name as views have it: the record leaves out that of a core's first task. */
  private static String taskName(Anomaly anomaly) {
    return anomaly.getTaskName().isEmpty() ? "task 0" : anomaly.getTaskName();
  }

  private static ObjectNode json(Anomaly anomaly) {
    ArrayNode stack = JSON.arrayNode();
    anomaly.getStack().forEach(stack::add);
    ObjectNode json =
        JSON.objectNode()
            .put("kind", anomaly.getKind())
            .put("severity", anomaly.getSeverity())
            .put("session", anomaly.getSession())
            .put("core", anomaly.getCore())
            .put("isa", anomaly.getIsa())
            .put("task", anomaly.getTaskId())
            .put("taskName", taskName(anomaly))
            .put("function", anomaly.getFunction())
            .put("expected", anomaly.getExpected())
            .put("received", anomaly.getReceived())
            .put("time", anomaly.getTime())
            .put("unit", anomaly.getClockUnit().name())
            .put("count", anomaly.getCount())
            .put("message", anomaly.getMessage())
            .put("caller", anomaly.getCaller())
            .put("cause", anomaly.getCause())
            .put("cure", anomaly.getCure())
            .put("chunk", anomaly.getChunk());
    json.set("stack", stack);
    return json;
  }

  private static String id(Map<Integer, Long> next) {
    return next.entrySet().stream()
        .map(position -> position.getKey() + ":" + position.getValue())
        .collect(Collectors.joining(","));
  }

  /** Positions that an id names; partitions that it does not name begin at their end. */
  private static Map<Integer, Long> positions(String id, Map<Integer, Long> ends) {
    Map<Integer, Long> positions = new TreeMap<>(ends);
    try {
      for (String part : id.split(",", -1)) {
        String[] words = part.split(":", -1);
        int partition = Integer.parseInt(words[0]);
        long offset = words.length == 2 ? Long.parseLong(words[1]) : -1;
        if (!ends.containsKey(partition) || offset < 0 || offset > ends.get(partition)) {
          throw new NumberFormatException(part);
        }
        positions.put(partition, offset);
      }
    } catch (NumberFormatException e) {
      throw new BadRequestException(
          "Last-Event-ID is not of this stream: '%s'".formatted(id.replace('\n', ' ')),
          "send back an id as it came, or none");
    }
    return positions;
  }

  private ConsumerSettings<byte[], byte[]> consumer() {
    Map<String, String> config = new HashMap<>();
    kafka.consumer().forEach((key, value) -> config.put(key, String.valueOf(value)));
    config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    return ConsumerSettings.create(system, new ByteArrayDeserializer(), new ByteArrayDeserializer())
        .withProperties(config)
        .withStopTimeout(Duration.ZERO);
  }
}
