package dev.retstack.fleet.control;

import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commands from the control topic, answers to the control-results topic. Every fleet reads every
 * command: there is no consumer group, and nothing is committed.
 */
public final class KafkaControlChannel implements ControlChannel {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaControlChannel.class);

  /** How long the log's end may stay out of reach. */
  private static final Duration REPLAY_LIMIT = Duration.ofSeconds(60);

  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Topics topics;
  private final TopicPartition log;
  private Thread listener;
  private volatile boolean closed;

  private KafkaControlChannel(
      KafkaConsumer<byte[], byte[]> consumer,
      KafkaProducer<byte[], byte[]> producer,
      Topics topics) {
    this.consumer = consumer;
    this.producer = producer;
    this.topics = topics;
    this.log = new TopicPartition(topics.control(), 0);
  }

  /**
   * Connects to a cluster whose topics exist.
   *
   * @param settings {@code bootstrap.servers} and whatever else the cluster asks for
   * @throws IOException when there is no answer, no such topic, or one without an order
   */
  public static KafkaControlChannel open(Map<String, ?> settings, Topics topics)
      throws IOException {
    KafkaConsumer<byte[], byte[]> consumer = null;
    KafkaProducer<byte[], byte[]> producer = null;
    try {
      consumer = new KafkaConsumer<>(consumer(settings));
      producer = new KafkaProducer<>(producer(settings));
      // a producer waits for a topic that a broker does not know yet; a consumer finds none
      requireOrder(topics.control(), producer.partitionsFor(topics.control()));
      producer.partitionsFor(topics.controlResults()); // so that no answer has to wait for it
      return new KafkaControlChannel(consumer, producer, topics);
    } catch (KafkaException | IOException e) {
      if (consumer != null) {
        consumer.close();
      }
      if (producer != null) {
        producer.close(Duration.ZERO);
      }
      throw new IOException(
          "no commands from topic %s at %s: %s"
              .formatted(
                  topics.control(),
                  settings.get(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG),
                  e.getMessage()),
          e);
    }
  }

  private static void requireOrder(String topic, List<PartitionInfo> partitions)
      throws IOException {
    if (partitions.size() != 1) {
      throw new IOException(
          "%d partitions, but the order of commands needs one: create %s with one partition"
              .formatted(partitions.size(), topic));
    }
  }

  private static Map<String, Object> consumer(Map<String, ?> settings) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put(ConsumerConfig.CLIENT_ID_CONFIG, "retstack-fleet-control");
    all.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    all.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    return all;
  }

  private static Map<String, Object> producer(Map<String, ?> settings) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put(ProducerConfig.CLIENT_ID_CONFIG, "retstack-fleet-answers");
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.ACKS_CONFIG, "all");
    all.put(ProducerConfig.LINGER_MS_CONFIG, 0); // somebody waits
    return all;
  }

  @Override
  public void replay(Consumer<Entry> past) throws IOException, InterruptedException {
    try {
      consumer.assign(List.of(log));
      consumer.seekToBeginning(List.of(log));
      long end = consumer.endOffsets(List.of(log)).get(log);
      long deadline = System.nanoTime() + REPLAY_LIMIT.toNanos();
      while (consumer.position(log) < end) {
        if (System.nanoTime() > deadline) {
          throw new IOException(
              "topic %s: no record %d within %d s; is the cluster well?"
                  .formatted(topics.control(), consumer.position(log), REPLAY_LIMIT.toSeconds()));
        }
        consumer.poll(POLL).forEach(record -> deliver(record, past));
      }
    } catch (InterruptException e) {
      Thread.interrupted(); // Kafka set it; the exception says it
      throw (InterruptedException) new InterruptedException(e.getMessage()).initCause(e);
    } catch (KafkaException e) {
      throw new IOException("topic %s: %s".formatted(topics.control(), e.getMessage()), e);
    }
  }

  @Override
  public void listen(Consumer<Entry> commands) {
    listener = Thread.ofPlatform().name("control").daemon().start(() -> follow(commands));
  }

  private void follow(Consumer<Entry> commands) {
    try {
      while (!closed) {
        consumer.poll(POLL).forEach(record -> deliver(record, commands));
      }
    } catch (WakeupException e) {
      // closed
    } catch (KafkaException e) {
      LOG.error("no more commands are followed: topic {}", topics.control(), e);
    }
  }

  private void deliver(ConsumerRecord<byte[], byte[]> record, Consumer<Entry> to) {
    try {
      Control control = ConfluentFrame.decode(record.value(), Control.class);
      to.accept(new Entry(control, record.offset(), Instant.ofEpochMilli(record.timestamp())));
    } catch (CorruptChunkException e) {
      LOG.warn(
          "record {} of topic {} is not a command: {}",
          record.offset(),
          topics.control(),
          e.getMessage());
    } catch (RuntimeException | StackOverflowError e) {
      LOG.error(
          "record {} of topic {} is left out: a defect", record.offset(), topics.control(), e);
    }
  }

  @Override
  public void answer(ControlResult result) {
    byte[] key = result.getCommand().getBytes(StandardCharsets.UTF_8);
    try {
      var _ =
          producer.send(
              new ProducerRecord<>(topics.controlResults(), key, ConfluentFrame.encode(result)),
              (_, error) -> warn(result, error));
    } catch (KafkaException | IllegalStateException e) {
      warn(result, e);
    }
  }

  private static void warn(ControlResult result, Exception error) {
    if (error != null) {
      LOG.warn("an answer to command {} is lost", result.getCommand(), error);
    }
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    boolean ended = listener == null;
    try {
      ended = ended || listener.join(CLOSE_LIMIT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (ended) {
      try {
        consumer.close();
      } catch (WakeupException | InterruptException e) {
        LOG.debug("closing", e);
      }
    }
    producer.close(CLOSE_LIMIT);
  }
}
