package dev.retstack.cli.trace;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.kafka.TopicPartitions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends commands through Kafka and receives the answers. One thread at a time. */
public final class ControlClient implements AutoCloseable {
  /** After the last answer: how long a further fleet may take to speak up. */
  private static final Duration QUIET = Duration.ofMillis(300);

  private static final Duration POLL = Duration.ofMillis(100);

  private final KafkaLink link;
  private final KafkaProducer<byte[], byte[]> producer;
  private final KafkaConsumer<byte[], byte[]> answers;

  private ControlClient(
      KafkaLink link,
      KafkaProducer<byte[], byte[]> producer,
      KafkaConsumer<byte[], byte[]> answers) {
    this.link = link;
    this.producer = producer;
    this.answers = answers;
  }

  /** Connects to a cluster whose topics exist; hears answers from now on. */
  public static ControlClient open(KafkaLink link) {
    Map<String, Object> settings = link.settings().producer();
    settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
    try {
      KafkaConsumer<byte[], byte[]> answers = consumer(link);
      List<TopicPartition> partitions = TopicPartitions.of(answers, link.topics().controlResults());
      answers.assign(partitions);
      answers.seekToEnd(partitions);
      partitions.forEach(answers::position); // now, not at the first poll
      return new ControlClient(
          link,
          new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()),
          answers);
    } catch (KafkaException e) {
      throw unavailable(link, e);
    }
  }

  private static KafkaConsumer<byte[], byte[]> consumer(KafkaLink link) {
    return new KafkaConsumer<>(
        link.settings().consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private static CommandException unavailable(KafkaLink link, Exception cause) {
    return CommandException.environment(
        "kafka at %s: %s".formatted(link.settings().bootstrap(), cause.getMessage()), cause);
  }

  /**
   * Gives a command.
   *
   * @return its place in the log
   */
  public long send(Control control) throws InterruptedException {
    byte[] key = control.getTarget().getBytes(StandardCharsets.UTF_8);
    try {
      return producer
          .send(
              new ProducerRecord<>(link.topics().control(), 0, key, ConfluentFrame.encode(control)))
          .get()
          .offset();
    } catch (ExecutionException | KafkaException e) {
      throw unavailable(link, e);
    }
  }

  /**
   * Gathers answers until every fleet that spoke is done, and no other speaks up for a moment.
   *
   * @param limit waits no longer than that
   */
  public AnswerSheet await(String command, Duration limit) {
    AnswerSheet sheet = new AnswerSheet(command);
    long end = System.nanoTime() + limit.toNanos();
    long quietSince = System.nanoTime();
    try {
      while (System.nanoTime() < end
          && !(sheet.isComplete() && System.nanoTime() - quietSince >= QUIET.toNanos())) {
        for (ConsumerRecord<byte[], byte[]> record : answers.poll(POLL)) {
          decode(record, ControlResult.class).ifPresent(sheet::add);
          quietSince = System.nanoTime();
        }
      }
    } catch (KafkaException e) {
      throw unavailable(link, e);
    }
    return sheet;
  }

  /** All commands that were ever given, and all answers. */
  public static ControlLog log(KafkaLink link) {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(link)) {
      return new ControlLog(
          all(consumer, link.topics().control(), Control.class),
          all(consumer, link.topics().controlResults(), ControlResult.class));
    } catch (KafkaException e) {
      throw unavailable(link, e);
    }
  }

  private static <T extends SpecificRecord> List<T> all(
      KafkaConsumer<byte[], byte[]> consumer, String topic, Class<T> type) {
    List<TopicPartition> partitions = TopicPartitions.of(consumer, topic);
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    List<T> all = new ArrayList<>();
    while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
      consumer.poll(POLL).forEach(record -> decode(record, type).ifPresent(all::add));
    }
    return all;
  }

  /** What is no such record was sent by somebody else; it is not ours to fail on. */
  private static <T extends SpecificRecord> Optional<T> decode(
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
