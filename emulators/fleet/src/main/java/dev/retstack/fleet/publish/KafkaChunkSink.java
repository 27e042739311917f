package dev.retstack.fleet.publish;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;

/**
 * Sends chunks to the events topic and images to the images topic, through one producer for the
 * whole fleet.
 *
 * <ul>
 *   <li>All chunks of a core go to one partition, chosen by a stable hash of its name.
 *   <li>The first chunk of each partition is sent alone and waited for: an idempotent producer that
 *       pipelines into a fresh topic can lose its first batches (KAFKA-15591).
 *   <li>A refused chunk breaks its core's stream: the next call for that core throws, and so does
 *       {@link #close}.
 *   <li>Bytes on the way are bounded. While Kafka is away the bound is reached and cores stand
 *       still; the producer goes on trying.
 * </ul>
 */
public final class KafkaChunkSink implements ChunkSink {
  /** Bytes handed to the producer and not yet acknowledged, at most. */
  private static final int BYTES_ON_THE_WAY_MAX = 32 << 20;

  /** Longest wait for what is on the way when the sink closes. */
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

  private final Producer<byte[], byte[]> producer;
  private final Topics topics;
  private final Object[] partitions;
  private final boolean[] primed;
  private final Semaphore room = new Semaphore(BYTES_ON_THE_WAY_MAX);

  /** What Kafka said of the first refused chunk of a core. */
  private final Map<String, String> refused = new ConcurrentHashMap<>();

  private KafkaChunkSink(Producer<byte[], byte[]> producer, Topics topics, int partitionCount) {
    this.producer = producer;
    this.topics = topics;
    this.partitions = new Object[partitionCount];
    for (int i = 0; i < partitionCount; i++) {
      partitions[i] = new Object();
    }
    this.primed = new boolean[partitionCount];
  }

  /**
   * Connects to a cluster whose topics exist.
   *
   * @param settings {@code bootstrap.servers} and whatever else the cluster asks for; they may
   *     override the sink's own settings, but not those that keep records safe
   * @throws IOException when there is no answer or no such topic
   */
  public static KafkaChunkSink open(Map<String, ?> settings, Topics topics) throws IOException {
    KafkaProducer<byte[], byte[]> producer;
    try {
      producer =
          new KafkaProducer<>(
              configuration(settings), new ByteArraySerializer(), new ByteArraySerializer());
    } catch (KafkaException e) {
      throw new IOException("no producer for these kafka settings: " + rootCause(e), e);
    }
    try {
      int count = producer.partitionsFor(topics.events()).size();
      return new KafkaChunkSink(producer, topics, count);
    } catch (KafkaException e) {
      producer.close(Duration.ZERO);
      throw new IOException(
          "no topic %s at %s: %s; is the broker running, and were the topics created?"
              .formatted(
                  topics.events(),
                  settings.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG),
                  rootCause(e)),
          e);
    }
  }

  private static Map<String, Object> configuration(Map<String, ?> settings) {
    Map<String, Object> all = new HashMap<>();
    all.put(ProducerConfig.CLIENT_ID_CONFIG, "retstack-fleet");
    all.put(ProducerConfig.LINGER_MS_CONFIG, 20);
    all.put(ProducerConfig.BATCH_SIZE_CONFIG, 256 << 10);
    all.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 2L * BYTES_ON_THE_WAY_MAX);
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 30_000);
    all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
    all.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "none"); // payloads are packed already
    all.putAll(settings);
    all.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    all.put(ProducerConfig.ACKS_CONFIG, "all");
    return all;
  }

  @Override
  public void image(Image image) throws IOException, InterruptedException {
    byte[] key = image.getBuildId().getBytes(StandardCharsets.UTF_8);
    sendAndWait(
        new ProducerRecord<>(topics.images(), key, ConfluentFrame.encode(image)),
        "image " + image.getName());
  }

  @Override
  public void chunk(Chunk chunk) throws IOException, InterruptedException {
    failIfRefused(chunk.getCore());
    byte[] key = chunk.getCore().getBytes(StandardCharsets.UTF_8);
    int partition = Utils.toPositive(Utils.murmur2(key)) % partitions.length;
    ProducerRecord<byte[], byte[]> message =
        new ProducerRecord<>(topics.events(), partition, key, ConfluentFrame.encode(chunk));
    synchronized (partitions[partition]) {
      if (!primed[partition]) {
        try {
          sendAndWait(message, name(chunk));
        } catch (IOException e) {
          refused.put(chunk.getCore(), e.getMessage());
          throw e;
        }
        primed[partition] = true;
        return;
      }
    }
    send(message, chunk);
  }

  private void send(ProducerRecord<byte[], byte[]> message, Chunk chunk)
      throws IOException, InterruptedException {
    int bytes = Math.min(message.value().length, BYTES_ON_THE_WAY_MAX);
    room.acquire(bytes);
    String core = chunk.getCore();
    String name = name(chunk);
    try {
      // the callback tells all that the future would
      var _ = producer.send(message, (metadata, error) -> answered(name, core, bytes, error));
    } catch (InterruptException e) {
      room.release(bytes);
      throw interrupted(e);
    } catch (KafkaException e) {
      answered(name, core, bytes, e);
      failIfRefused(core);
    }
  }

  private void answered(String name, String core, int bytes, Exception error) {
    room.release(bytes);
    if (error != null) {
      refused.putIfAbsent(core, sentence(name, error));
    }
  }

  private void sendAndWait(ProducerRecord<byte[], byte[]> message, String name)
      throws IOException, InterruptedException {
    try {
      producer.send(message).get();
    } catch (InterruptException e) {
      throw interrupted(e);
    } catch (ExecutionException | KafkaException e) {
      throw new IOException(sentence(name, e), e);
    }
  }

  private void failIfRefused(String core) throws IOException {
    String why = refused.get(core);
    if (why != null) {
      throw new IOException(why);
    }
  }

  private static String name(Chunk chunk) {
    return "chunk %d of core %s".formatted(chunk.getSequence(), chunk.getCore());
  }

  private static String sentence(String what, Exception error) {
    return "kafka refused %s: %s".formatted(what, rootCause(error));
  }

  private static String rootCause(Throwable error) {
    Throwable at = error;
    while (at.getCause() != null) {
      at = at.getCause();
    }
    return at.getMessage() == null ? at.toString() : at.getMessage();
  }

  private static InterruptedException interrupted(InterruptException cause) {
    Thread.interrupted(); // Kafka set it; the exception says it
    InterruptedException exception = new InterruptedException(cause.getMessage());
    exception.initCause(cause);
    return exception;
  }

  @Override
  public void close() throws IOException {
    try {
      producer.close(CLOSE_LIMIT);
    } catch (KafkaException e) {
      throw new IOException("kafka producer did not close: " + rootCause(e), e);
    }
    if (!refused.isEmpty()) {
      throw new IOException(
          "chunks of %d cores are not in kafka: %s"
              .formatted(refused.size(), new TreeMap<>(refused).firstEntry().getValue()));
    }
  }
}
