package dev.retstack.service.window;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.question.WindowQuestion;
import dev.retstack.answers.replay.WindowChunks;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.places.Place;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads chunks of cores from the log, by their places. It belongs to no group; its bytes and its
 * time are bounded. For one thread, and for one question: nothing of it stays behind.
 *
 * <p>Chunks of other cores lie between. It goes to each place by its offset, and fetches little at
 * a time: what lies behind the last chunk of a place is not wanted. What came with a fetch is not
 * fetched again for the next place.
 */
public final class LogReader implements AutoCloseable {
  /** Bytes of chunks in one answer at most, those of all its cores together. */
  public static final long CHUNK_BYTES_MAX = 16 << 20;

  /** Bytes that a question fetches at most, those of other cores among them. */
  static final long FETCHED_MAX = 64 << 20;

  /** Records between two places: up to this number they are read, more are passed over. */
  private static final int READ_ON = 16;

  private static final Duration POLL = Duration.ofMillis(100);
  private static final String NARROW = "ask for a narrower from and to";

  private final String topic;
  private final LogConsumers consumers;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final long receivedBefore;
  private final long deadline = System.nanoTime() + LogConsumers.PATIENCE.toNanos();
  private TopicPartition assigned;

  /** From here up to where the consumer stands, all records were taken for the core. */
  private long takenFrom;

  /** Of the cores that were read before, whose chunks are kept meanwhile. */
  private long chunkBytes;

  private boolean failed;

  /** A reader of this topic, which has fetched nothing. */
  public LogReader(LogConsumers consumers, String topic) {
    this.consumers = consumers;
    this.topic = topic;
    consumer = consumers.take();
    receivedBefore = received();
  }

  /**
   * The chunks of one core that a window needs.
   *
   * @param places of the core in this partition, in the order of the log
   * @param question whose first time must still be there
   * @param around the time that is read, no less than that of the question
   * @throws BadRequestException 410 where the log has no longer what the window begins with, 413
   *     where it is too large, 503 where Kafka does not give it in time
   */
  public WindowChunks read(
      int partition,
      CoreKey key,
      List<Place> places,
      WindowQuestion question,
      WindowQuestion around) {
    try {
      assigned = new TopicPartition(topic, partition);
      consumer.assign(List.of(assigned));
      long start = consumer.beginningOffsets(List.of(assigned)).get(assigned);
      List<Place> left = places.stream().filter(place -> place.lastOffset() >= start).toList();
      if (left.isEmpty()) {
        throw gone(key, "its last chunk, of time %d, is deleted".formatted(lastTime(places)));
      }
      seek(left.getFirst().offset());
      WindowChunks chunks = read(key, left, question, around);
      chunkBytes += chunks.bytes();
      return chunks;
    } catch (KafkaException e) {
      failed = true;
      throw new BadRequestException(
          503, "cannot read topic %s: %s".formatted(topic, e.getMessage()), "ask again");
    }
  }

  /** The last time of places. */
  public static long lastTime(List<Place> places) {
    return places.stream().mapToLong(Place::lastTime).max().orElse(0);
  }

  private WindowChunks read(
      CoreKey key, List<Place> places, WindowQuestion question, WindowQuestion around) {
    long from = around.first();
    long to = around.last();
    int back = places.size() - 1;
    int before = 0;
    int last = 0;
    for (int i = places.size() - 1; i >= 0; i--) {
      Place place = places.get(i);
      back = place.lastTime() >= from ? i : back;
      before = before == 0 && place.firstTime() <= from ? i : before;
      last = last == 0 && place.firstTime() <= to ? i : last;
    }
    back = Math.min(back, before);
    last = Math.max(back, last);
    WindowChunks chunks = new WindowChunks(from, to);
    for (int i = back; i <= last && !chunks.isWhole(); i++) {
      read(places.get(i), places.get(i).lastOffset(), key, chunks);
    }
    if (!chunks.hasBehind() && last + 1 < places.size()) {
      read(places.get(last + 1), places.get(last + 1).offset(), key, chunks);
    }
    while (!chunks.hasBegin() && back > 0) {
      back--;
      read(places.get(back), places.get(back).lastOffset(), key, chunks);
    }
    List<Chunk> found = chunks.list(true);
    if (found.isEmpty()) {
      throw gone(key, "no chunk of it stands where it was; they may be deleted meanwhile");
    }
    Chunk first = found.getFirst();
    boolean isCut = back == 0 && first.getSequence() > 0;
    if (isCut && question.from().isPresent() && question.first() < first.getFirstTime()) {
      throw gone(
          key,
          "the first time still there is %d, and the window begins at %d"
              .formatted(first.getFirstTime(), question.first()));
    }
    return chunks;
  }

  private BadRequestException gone(CoreKey key, String fact) {
    return new BadRequestException(
        410,
        "core %s of session %s: %s".formatted(key.core(), key.session(), fact),
        "ask for a later time, or lengthen retention.ms and retention.bytes of topic %s for times to come"
            .formatted(topic));
  }

  /** Reads the records of a place, up to this offset, or until the window is whole. */
  private void read(Place place, long end, CoreKey key, WindowChunks into) {
    if (place.offset() < takenFrom || place.offset() - consumer.position(assigned) > READ_ON) {
      seek(place.offset());
    }
    while (consumer.position(assigned) <= end && !into.isWhole()) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        take(record, key, into);
      }
      long kept = chunkBytes + into.bytes();
      if (kept > CHUNK_BYTES_MAX) {
        throw tooLarge(
            "the window has more than %,d bytes of chunks, %,d records of core %s among them"
                .formatted(CHUNK_BYTES_MAX, into.records(), key.core()));
      }
      if (fetchedBytes() > FETCHED_MAX) {
        throw tooLarge(
            "more than %,d bytes were fetched for the window, most of them of other cores than %s"
                .formatted(FETCHED_MAX, key.core()));
      }
      if (System.nanoTime() > deadline) {
        throw new BadRequestException(
            503,
            "Kafka gave %,d bytes of %s in %d s, not all that the window needs"
                .formatted(fetchedBytes(), assigned, LogConsumers.PATIENCE.toSeconds()),
            "ask again, or " + NARROW);
      }
    }
  }

  private void seek(long offset) {
    consumer.seek(assigned, offset);
    takenFrom = offset;
  }

  private static BadRequestException tooLarge(String fact) {
    return new BadRequestException(
        413,
        fact,
        NARROW + "; \"retstack record --from-kafka --core C --from T --to T\" has no such limit");
  }

  private static void take(ConsumerRecord<byte[], byte[]> record, CoreKey key, WindowChunks into) {
    try {
      Chunk chunk = ConfluentFrame.decode(record.value(), Chunk.class);
      if (chunk.getCore().equals(key.core()) && chunk.getSession().equals(key.session())) {
        Chunks.check(chunk);
        into.add(chunk, record.offset());
      }
    } catch (CorruptChunkException | RuntimeException | StackOverflowError _) {
      // the partition refused it as well
    }
  }

  /** Bytes that came from the brokers. */
  public long fetchedBytes() {
    return received() - receivedBefore;
  }

  private long received() {
    return (long)
        consumer.metrics().values().stream()
            .filter(metric -> metric.metricName().name().equals("incoming-byte-total"))
            .filter(metric -> metric.metricName().group().equals("consumer-metrics"))
            .mapToDouble(metric -> (double) metric.metricValue())
            .sum();
  }

  @Override
  public void close() {
    if (failed) {
      LogConsumers.close(consumer);
    } else {
      consumers.giveBack(consumer);
    }
  }
}
