package dev.retstack.service.control;

import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.KafkaUnavailableException;
import dev.retstack.service.kafka.TopicLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends commands through Kafka and receives the answers. One thread at a time. */
public final class ControlClient implements AutoCloseable {
  /** After the last answer: how long a further fleet may take to speak up. */
  private static final Duration QUIET = Duration.ofMillis(300);

  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Bytes of records of a topic that a log with a bound holds at once. */
  private static final long LOG_BYTES_MAX = 16L << 20;

  private final KafkaSettings kafka;
  private final Topics topics;
  private final KafkaProducer<byte[], byte[]> producer;
  private final TopicLog answers;

  /** Receives answers as they come. */
  public interface Listener {
    /** These came together. */
    void came(List<ControlResult> answers) throws IOException;
  }

  private ControlClient(
      KafkaSettings kafka,
      Topics topics,
      KafkaProducer<byte[], byte[]> producer,
      TopicLog answers) {
    this.kafka = kafka;
    this.topics = topics;
    this.producer = producer;
    this.answers = answers;
  }

  /**
   * Connects to a cluster whose topics exist; hears answers from now on.
   *
   * @throws KafkaUnavailableException when it does not answer
   */
  public static ControlClient open(KafkaSettings kafka, Topics topics)
      throws KafkaUnavailableException {
    Map<String, Object> settings = kafka.producer();
    settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
    TopicLog answers = new TopicLog(kafka.consumer(), PATIENCE);
    try {
      answers.beginAtEnd(answers.partitions(topics.controlResults()));
      return new ControlClient(
          kafka,
          topics,
          new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()),
          answers);
    } catch (KafkaException e) {
      answers.close();
      throw unavailable(kafka, e);
    }
  }

  private static KafkaUnavailableException unavailable(KafkaSettings kafka, Throwable cause) {
    return new KafkaUnavailableException(
        "kafka at %s: %s".formatted(kafka.bootstrap(), cause.getMessage()), cause);
  }

  /**
   * Gives a command.
   *
   * @return its place in the log
   * @throws KafkaUnavailableException when Kafka does not take it
   */
  public long send(Control control) throws KafkaUnavailableException, InterruptedException {
    byte[] key = control.getTarget().getBytes(StandardCharsets.UTF_8);
    try {
      return producer
          .send(new ProducerRecord<>(topics.control(), 0, key, ConfluentFrame.encode(control)))
          .get()
          .offset();
    } catch (ExecutionException e) {
      throw unavailable(kafka, e.getCause());
    } catch (KafkaException e) {
      throw unavailable(kafka, e);
    }
  }

  /**
   * Gathers answers until every fleet that spoke is done, and no other speaks up for a moment.
   *
   * @param limit waits no longer than that
   * @throws KafkaUnavailableException when Kafka does not answer
   */
  public AnswerSheet await(String command, Duration limit) throws KafkaUnavailableException {
    try {
      return await(command, limit, _ -> {});
    } catch (KafkaUnavailableException e) {
      throw e;
    } catch (IOException e) {
      throw new AssertionError(e); // this listener throws none
    }
  }

  /**
   * Waits for the answers, and hands on each as it comes.
   *
   * @throws KafkaUnavailableException when Kafka does not answer
   * @throws IOException of the listener: nothing is gathered any more
   */
  public AnswerSheet await(String command, Duration limit, Listener listener) throws IOException {
    AnswerSheet sheet = new AnswerSheet(command);
    long end = System.nanoTime() + limit.toNanos();
    long quietSince = System.nanoTime();
    while (System.nanoTime() < end
        && !(sheet.isComplete() && System.nanoTime() - quietSince >= QUIET.toNanos())) {
      List<ControlResult> came = new ArrayList<>();
      try {
        for (ConsumerRecord<byte[], byte[]> record : answers.poll(POLL)) {
          decode(record, ControlResult.class)
              .filter(answer -> answer.getCommand().equals(command))
              .ifPresent(came::add);
          quietSince = System.nanoTime();
        }
      } catch (KafkaException e) {
        throw unavailable(kafka, e);
      }
      came.forEach(sheet::add);
      if (!came.isEmpty()) {
        listener.came(came);
      }
    }
    return sheet;
  }

  /**
   * All commands that were ever given, and all answers.
   *
   * @throws KafkaUnavailableException when Kafka does not answer
   */
  public static ControlLog log(KafkaSettings kafka, Topics topics)
      throws KafkaUnavailableException {
    return log(kafka, topics, Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * The last commands that were given, and the last answers, each in at most 16 MiB of records.
   *
   * @param commands at most
   * @param answers at most
   * @throws KafkaUnavailableException when Kafka does not answer
   */
  static ControlLog log(KafkaSettings kafka, Topics topics, int commands, int answers)
      throws KafkaUnavailableException {
    return log(kafka, topics, commands, answers, LOG_BYTES_MAX);
  }

  private static ControlLog log(
      KafkaSettings kafka, Topics topics, int commands, int answers, long bytes)
      throws KafkaUnavailableException {
    try (TopicLog log = new TopicLog(kafka.consumer(), PATIENCE)) {
      Last<Control> given = last(log, topics.control(), Control.class, commands, bytes);
      Last<ControlResult> said =
          last(log, topics.controlResults(), ControlResult.class, answers, bytes);
      return new ControlLog(given.records(), said.records(), given.all(), said.all());
    } catch (KafkaException e) {
      throw unavailable(kafka, e);
    }
  }

  /** The end of a topic, and whether it is the whole topic. */
  private record Last<T>(List<T> records, boolean all) {}

  private static <T extends AvroRecord> Last<T> last(
      TopicLog log, String topic, Class<T> type, int most, long bytesMax) {
    Map<TopicPartition, Long> begins = log.begins(log.partitions(topic));
    Map<TopicPartition, Long> ends = log.ends(begins.keySet());
    Map<TopicPartition, Long> from = new HashMap<>(begins);
    ends.forEach((partition, end) -> from.merge(partition, end - most, Math::max));
    boolean[] all = {from.equals(begins)};
    log.begin(from);
    Deque<ConsumerRecord<byte[], byte[]>> held = new ArrayDeque<>();
    long[] bytes = {0};
    log.readTo(
        ends,
        () -> false,
        came -> {
          for (ConsumerRecord<byte[], byte[]> record : came) {
            held.add(record);
            bytes[0] += record.serializedValueSize();
            while (held.size() > most || bytes[0] > bytesMax) {
              bytes[0] -= held.remove().serializedValueSize();
              all[0] = false;
            }
          }
        });
    List<T> records = new ArrayList<>();
    held.forEach(record -> decode(record, type).ifPresent(records::add));
    return new Last<>(records, all[0]);
  }

  /** What is no such record was sent by somebody else; it is not ours to fail on. */
  private static <T extends AvroRecord> Optional<T> decode(
      ConsumerRecord<byte[], byte[]> record, Class<T> type) {
    try {
      return Optional.of(ConfluentFrame.decode(record.value(), type));
    } catch (CorruptChunkException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    producer.close();
    answers.close();
  }
}
