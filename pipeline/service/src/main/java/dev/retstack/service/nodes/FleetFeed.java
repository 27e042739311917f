package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.answers.state.Deaths;
import dev.retstack.schema.Fleet;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicLog;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the fleets topic, and reports which sessions have lost their fleets, until closed. While
 * no fleet writes, it advances the broker's time. If Kafka is away it waits, and nothing dies.
 */
public final class FleetFeed extends TopicFeed {
  private static final Logger log = LoggerFactory.getLogger(FleetFeed.class);
  private static final Duration FAREWELL = Duration.ofSeconds(3);
  private static final Duration INTERVAL = Duration.ofMillis(FleetTable.INTERVAL_MILLIS);

  private final List<TopicPartition> events;
  private final Consumer<Deaths> news;
  private volatile Deaths deaths = Deaths.NONE;

  /**
   * Knows nobody.
   *
   * @param partitions of the events topic
   * @param news hears of each change
   */
  public FleetFeed(KafkaSettings kafka, Topics topics, int partitions, Consumer<Deaths> news) {
    super(kafka, topics.fleets(), "retstack-fleets", INTERVAL, FAREWELL);
    this.events =
        IntStream.range(0, partitions)
            .mapToObj(p -> new TopicPartition(topics.events(), p))
            .toList();
    this.news = news;
  }

  /** Begins to hear. */
  public void start() {
    begin();
  }

  /** What is known now. */
  public Deaths deaths() {
    return deaths;
  }

  @Override
  void follow(TopicLog reader, KafkaProducer<byte[], byte[]> producer) {
    FleetTable table = new FleetTable();
    // what was said long ago is no news before all of it was heard
    reader.readTo(
        reader.ends(partition()),
        this::isClosed,
        records -> records.forEach(record -> read(table, record)));
    long said = System.nanoTime();
    while (!isClosed()) {
      for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
        read(table, record);
        said = System.nanoTime();
      }
      if (System.nanoTime() - said >= INTERVAL.toNanos() && table.isAnyInQuestion()) {
        said = System.nanoTime();
        send(producer, new ProducerRecord<>(topic(), FleetTable.TICK.getBytes(UTF_8), null));
      }
      update(table.gone(), reader);
    }
  }

  private static void read(FleetTable table, ConsumerRecord<byte[], byte[]> record) {
    if (record.key() == null) {
      return;
    }
    String key = new String(record.key(), UTF_8);
    try {
      Fleet fleet = record.value() == null ? null : NodeRecords.decode(record, Fleet.class);
      table.update(key, fleet, record.timestamp());
    } catch (CorruptChunkException e) {
      log.debug("record {} of the fleets topic: {}", record.offset(), e.getMessage());
    }
  }

  /** Where events ended is asked after their senders were gone: nothing of theirs is behind it. */
  private void update(Map<String, Long> gone, TopicLog reader) {
    Deaths before = deaths;
    if (gone.keySet().equals(before.sessions().keySet())
        && gone.entrySet().stream()
            .allMatch(e -> before.sessions().get(e.getKey()).since() == e.getValue())) {
      return;
    }
    Map<Integer, Long> ends = new HashMap<>();
    reader.ends(events).forEach((partition, end) -> ends.put(partition.partition(), end));
    Map<String, Deaths.Death> sessions = new HashMap<>();
    gone.forEach(
        (session, since) -> {
          Deaths.Death known = before.sessions().get(session);
          boolean same = known != null && known.since() == since;
          sessions.put(session, same ? known : new Deaths.Death(since, ends));
        });
    deaths = new Deaths(sessions);
    news.accept(deaths);
  }
}
