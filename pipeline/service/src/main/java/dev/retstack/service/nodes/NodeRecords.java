package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Node;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.identity.GroupRoll;
import dev.retstack.service.identity.SignedNode;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicLog;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the nodes topic, outside of any group. */
public final class NodeRecords {
  private static final Logger log = LoggerFactory.getLogger(NodeRecords.class);
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Of a record at most: a few names and an address. */
  private static final int BYTES_MAX = 1 << 14;

  private NodeRecords() {}

  /** The topic's only partition. */
  static TopicPartition partition(String topic) {
    return new TopicPartition(topic, 0);
  }

  /**
   * What a record of a small topic says.
   *
   * @throws CorruptChunkException where it is none, or one that is far too long
   */
  static <T extends AvroRecord> T decode(ConsumerRecord<byte[], byte[]> record, Class<T> type)
      throws CorruptChunkException {
    if (record.key().length + record.value().length > BYTES_MAX) {
      throw new CorruptChunkException(
          "%d bytes: at most %d".formatted(record.value().length, BYTES_MAX));
    }
    return ConfluentFrame.decode(record.value(), type);
  }

  /** Puts what a record says into the table; one that is not readable changes nothing. */
  static void read(NodeTable table, ConsumerRecord<byte[], byte[]> record) {
    if (record.key() == null) {
      return;
    }
    String key = new String(record.key(), UTF_8);
    try {
      Node node = record.value() == null ? null : decode(record, Node.class);
      if (node == null || isOwn(key, node)) {
        table.update(key, node, record.timestamp());
      }
    } catch (CorruptChunkException e) {
      // of a later version, or somebody else's: the others are still there
      log.debug(
          "record {} of the nodes topic is not readable: {}", record.offset(), e.getMessage());
    }
  }

  /** Whether the holder of its key says so, of itself. */
  private static boolean isOwn(String key, Node node) {
    return key.equals(NodeTable.key(node.getGroup(), node.getNode())) && SignedNode.isSound(node);
  }

  /**
   * Members that run now, by the topic and the group as they are.
   *
   * @throws IOException where Kafka does not answer, or there is no such topic
   */
  public static List<Node> running(KafkaSettings kafka, Topics topics, String group)
      throws IOException {
    String topic = topics.nodes();
    GroupRoll.Roll members;
    try (GroupRoll roll = new GroupRoll(kafka, topics.events(), group, PATIENCE)) {
      members = roll.call(false);
    }
    NodeTable table = new NodeTable(group, node -> members.isMember(SignedNode.digest(node)));
    TopicPartition partition = partition(topic);
    try (TopicLog log = new TopicLog(kafka.consumer(), PATIENCE)) {
      if (!log.has(topic)) {
        throw new IOException(
            "no topic %s on Kafka at %s: no pipeline was started there yet"
                .formatted(topic, kafka.bootstrap()));
      }
      log.begin(List.of(partition));
      log.readTo(
          log.ends(List.of(partition), PATIENCE),
          () -> false,
          records -> records.forEach(record -> read(table, record)));
    } catch (KafkaException e) {
      throw new IOException(
          "cannot read topic %s on Kafka at %s: %s: check the address and that the brokers run"
              .formatted(topic, kafka.bootstrap(), e.getMessage()),
          e);
    }
    return table.running();
  }
}
