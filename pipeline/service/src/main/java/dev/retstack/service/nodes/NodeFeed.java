package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Node;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.kafka.KafkaSettings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Announces in the nodes topic that this member runs, and hears which others do, until closed; then
 * it withdraws the announcement. If Kafka is away it waits and does not fail: that is for ingest to
 * decide.
 */
public final class NodeFeed extends TopicFeed {
  private static final Duration FAREWELL = Duration.ofSeconds(3);
  private static final Duration INTERVAL = Duration.ofMillis(NodeTable.INTERVAL_MILLIS);

  private final NodeTable table;
  private volatile Node self;
  private volatile List<Node> running = List.of();

  /**
   * A member that has no address yet.
   *
   * @param topic the nodes topic
   */
  public NodeFeed(KafkaSettings kafka, String topic, String group, Set<Role> roles) {
    super(kafka, topic, "retstack-nodes", INTERVAL, FAREWELL.plus(POLL).plus(FAREWELL));
    this.self =
        Node.newBuilder()
            .setNode("")
            .setUrl("")
            .setGroup(group)
            .setRoles(roles.stream().sorted().map(Role::word).toList())
            .build();
    this.table = new NodeTable(group);
  }

  /**
   * Begins to say and to hear.
   *
   * @param node name of this member
   * @param url where it answers
   */
  public void start(String node, URI url) {
    self =
        Node.newBuilder(self)
            .setNode(node)
            .setUrl(url.toString())
            .setStartedAt(System.currentTimeMillis())
            .build();
    begin();
  }

  /** This member. */
  public Node self() {
    return self;
  }

  /** The members that run as far as the topic says, this one among them once it is told there. */
  List<Node> running() {
    return running;
  }

  /** The members that run as far as is known, this one not among them. */
  public List<Node> others() {
    return running.stream().filter(node -> !node.getNode().equals(self.getNode())).toList();
  }

  @Override
  void follow(KafkaConsumer<byte[], byte[]> consumer, KafkaProducer<byte[], byte[]> producer) {
    var partition = List.of(NodeRecords.partition(topic()));
    consumer.assign(partition);
    consumer.seekToBeginning(partition);
    long said = System.nanoTime() - INTERVAL.toNanos();
    while (!isClosed()) {
      if (System.nanoTime() - said >= INTERVAL.toNanos()) {
        said = System.nanoTime();
        say(producer, new ProducerRecord<>(topic(), key(), ConfluentFrame.encode(self)));
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        NodeRecords.tell(table, record);
      }
      running = table.running();
    }
  }

  @Override
  void leave(KafkaProducer<byte[], byte[]> producer) {
    say(producer, new ProducerRecord<>(topic(), key(), null));
    producer.close(FAREWELL);
  }

  private byte[] key() {
    return NodeTable.key(self.getGroup(), self.getNode()).getBytes(UTF_8);
  }
}
