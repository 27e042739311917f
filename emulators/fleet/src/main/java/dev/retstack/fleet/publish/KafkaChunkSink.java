package dev.retstack.fleet.publish;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 *   <li>Bytes on the way are bounded, at half of {@code buffer.memory}. While Kafka is away the
 *       bound is reached and cores stand still, for as long as it takes, and are counted ({@link
 *       #waits}); the producer continues to try, and so does a core whose chunk it did not take.
 *   <li>Every 3 s it says in the fleets topic that this process lives ({@link Heartbeat}).
 * </ul>
 */
public final class KafkaChunkSink implements ChunkSink {
  /** Bytes handed to the producer and not yet acknowledged, at most, unless configured. */
  private static final int BYTES_ON_THE_WAY_MAX = 32 << 20;

  /** Longest wait for what is on the way when the sink closes. */
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

  private final Producer<byte[], byte[]> producer;
  private final Topics topics;
  private final Partition[] partitions;
  private final Room room;
  private final String bootstrap;
  private final Silence silence = new Silence();
  private final Heartbeat heartbeat;

  private static final Logger LOG = LoggerFactory.getLogger(KafkaChunkSink.class);

  /** What Kafka said of the first refused chunk of a core. */
  private final Map<String, String> refused = new ConcurrentHashMap<>();

  /** Whether something has been sent to it, and who is about to. */
  private static final class Partition {
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean primed;
  }

  private KafkaChunkSink(
      Producer<byte[], byte[]> producer,
      Topics topics,
      int partitionCount,
      Room room,
      String bootstrap) {
    this.producer = producer;
    this.topics = topics;
    this.room = room;
    this.bootstrap = bootstrap;
    this.heartbeat = new Heartbeat(producer, topics.fleets(), silence);
    this.partitions = new Partition[partitionCount];
    Arrays.setAll(partitions, _ -> new Partition());
  }

  /**
   * Connects to a cluster whose topics exist.
   *
   * @param settings {@code bootstrap.servers} and whatever else the cluster asks for; they may
   *     override the sink's own settings, but not those that keep records safe
   * @throws IOException when there is no answer or no such topic
   */
  public static KafkaChunkSink open(Map<String, ?> settings, Topics topics) throws IOException {
    String bootstrap = String.valueOf(settings.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG));
    KafkaProducer<byte[], byte[]> producer;
    Room room;
    try {
      Map<String, Object> all = configuration(settings);
      room = new Room(bytesOnTheWayMax(all));
      producer = new KafkaProducer<>(all);
    } catch (KafkaException e) {
      throw new IOException("no producer for these kafka settings: " + rootCause(e), e);
    }
    try {
      int count = producer.partitionsFor(topics.events()).size();
      return new KafkaChunkSink(producer, topics, count, room, bootstrap);
    } catch (KafkaException e) {
      producer.close(Duration.ZERO);
      throw new IOException(
          "no topic %s at %s: %s; is the broker running, and were the topics created?"
              .formatted(topics.events(), bootstrap, rootCause(e)),
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
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    all.put(ProducerConfig.ACKS_CONFIG, "all");
    return all;
  }

  private static int bytesOnTheWayMax(Map<String, Object> configuration) {
    long memory = new ProducerConfig(configuration).getLong(ProducerConfig.BUFFER_MEMORY_CONFIG);
    return Math.clamp(memory / 2, 1, Integer.MAX_VALUE);
  }

  @Override
  public void image(Image image) throws IOException, InterruptedException {
    byte[] message = ConfluentFrame.encode(image);
    byte[] key = ImageKey.of(image.getBuildId(), message);
    try {
      sendAndWait(new ProducerRecord<>(topics.images(), key, message), "image " + image.getName());
    } catch (IOException e) {
      boolean hasLines = !image.getLines().isEmpty();
      if (!isTooLarge(e) || !(hasLines || !image.getOtherNames().isEmpty())) {
        throw e;
      }
      LOG.warn(
          "image {}: kafka takes no message of {} bytes, so its functions have {};"
              + " raise max.request.size of the fleet and max.message.bytes of {}",
          Visible.line(image.getName()),
          message.length,
          hasLines ? "no source lines" : "one name each, without aliases",
          topics.images());
      Image.Builder less = Image.newBuilder(image).setFiles(List.of()).setLines(List.of());
      image((hasLines ? less : less.setOtherNames(List.of())).build());
    }
  }

  private static boolean isTooLarge(Throwable error) {
    Throwable at = error;
    while (at != null && !(at instanceof RecordTooLargeException)) {
      at = at.getCause();
    }
    return at != null;
  }

  @Override
  public void chunk(Chunk chunk) throws IOException, InterruptedException {
    failIfRefused(chunk.getCore());
    heartbeat.of(chunk.getSession());
    byte[] key = chunk.getCore().getBytes(StandardCharsets.UTF_8);
    int partition = Utils.toPositive(Utils.murmur2(key)) % partitions.length;
    ProducerRecord<byte[], byte[]> message =
        new ProducerRecord<>(topics.events(), partition, key, ConfluentFrame.encode(chunk));
    if (!prime(partitions[partition], message, chunk)) {
      send(message, chunk);
    }
  }

  /** Sends the first chunk of a partition and waits for it; false where one was sent before. */
  private boolean prime(Partition partition, ProducerRecord<byte[], byte[]> message, Chunk chunk)
      throws IOException, InterruptedException {
    if (partition.primed) {
      return false;
    }
    long start = room.begin();
    try {
      partition.lock.lockInterruptibly();
      try {
        if (partition.primed) {
          return false;
        }
        sendAndWait(message, name(chunk));
        partition.primed = true;
        return true;
      } catch (IOException e) {
        refused.put(chunk.getCore(), e.getMessage());
        throw e;
      } finally {
        partition.lock.unlock();
      }
    } finally {
      room.end(start);
    }
  }

  private void send(ProducerRecord<byte[], byte[]> message, Chunk chunk)
      throws IOException, InterruptedException {
    int taken = room.take(message.value().length);
    String core = chunk.getCore();
    String name = name(chunk);
    try {
      handOver(
          message,
          error -> {
            room.giveBack(taken);
            if (error != null) {
              refused.putIfAbsent(core, sentence(name, error));
            }
          });
    } catch (InterruptedException e) {
      room.giveBack(taken);
      throw e;
    }
    failIfRefused(core);
  }

  private void sendAndWait(ProducerRecord<byte[], byte[]> message, String name)
      throws IOException, InterruptedException {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    handOver(
        message,
        error -> {
          if (error == null) {
            answer.complete(true);
          } else {
            answer.completeExceptionally(error);
          }
        });
    try {
      answer.get();
    } catch (ExecutionException e) {
      throw new IOException(sentence(name, e), e);
    }
  }

  /**
   * Gives the producer a message, again and again until it takes it: a producer that has lost Kafka
   * for so long that it forgot where the topics are refuses in the end, and takes the message when
   * Kafka is back.
   *
   * @param answer hears once what became of a message that the producer took, null = it is safe;
   *     hears of a refusal for any other reason as well
   */
  private void handOver(ProducerRecord<byte[], byte[]> message, Consumer<Exception> answer)
      throws InterruptedException {
    long core = Thread.currentThread().threadId();
    Consumer<Exception> heard =
        error -> {
          silence.answered();
          answer.accept(error);
        };
    silence.sent();
    AtomicBoolean taken = new AtomicBoolean();
    OptionalLong waiting = OptionalLong.empty();
    try {
      while (!taken.get()) {
        taken.set(true);
        Callback callback =
            (_, error) -> {
              // what times out in the core's own thread was not taken; later it was, and is lost
              if (error instanceof TimeoutException && Thread.currentThread().threadId() == core) {
                taken.set(false);
              } else {
                heard.accept(error);
              }
            };
        try {
          var _ = producer.send(message, callback); // the callback hears all the future would
        } catch (InterruptException e) {
          silence.answered();
          throw interrupted(e);
        } catch (KafkaException e) {
          heard.accept(e);
        }
        if (!taken.get() && waiting.isEmpty()) {
          waiting = OptionalLong.of(room.begin());
        }
      }
    } finally {
      waiting.ifPresent(room::end);
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
  public SinkWaits waits() {
    return room.waits();
  }

  @Override
  public Duration silence() {
    return silence.length();
  }

  @Override
  public String address() {
    return bootstrap;
  }

  @Override
  public void close() throws IOException {
    long start = System.nanoTime();
    boolean all = room.awaitEmpty(CLOSE_LIMIT);
    heartbeat.stop(all && refused.isEmpty());
    try {
      Duration left = CLOSE_LIMIT.minusNanos(System.nanoTime() - start);
      producer.close(left.isNegative() ? Duration.ZERO : left);
    } catch (KafkaException e) {
      throw new IOException("kafka producer did not close: " + rootCause(e), e);
    }
    if (!refused.isEmpty()) {
      throw new IOException(
          "chunks of %d cores are not in kafka: %s; see that its brokers take writes, and run again"
              .formatted(refused.size(), new TreeMap<>(refused).firstEntry().getValue()));
    }
  }
}
