package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Node;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.GroupRoll;
import dev.retstack.service.identity.Handshake;
import dev.retstack.service.identity.MemberKey;
import dev.retstack.service.identity.SignedNode;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicLog;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces in the nodes topic that this member runs, and hears which others do, until closed; then
 * it withdraws the announcement. If Kafka is away it waits and does not fail: that is for ingest to
 * decide.
 */
public final class NodeFeed extends TopicFeed {
  private static final Logger log = LoggerFactory.getLogger(NodeFeed.class);
  private static final Duration FAREWELL = Duration.ofSeconds(3);
  private static final Duration INTERVAL = Duration.ofMillis(NodeTable.INTERVAL_MILLIS);

  /** Between two looks at the group where nobody is unknown; sooner where somebody is. */
  private static final Duration ROLL = Duration.ofSeconds(3);

  private static final Duration ROLL_SOONER = Duration.ofMillis(500);
  private static final Duration ROLL_PATIENCE = Duration.ofSeconds(2);

  private final NodeTable table;
  private final GroupRoll roll;
  private final MemberKey key;
  private volatile GroupRoll.Roll members = GroupRoll.Roll.EMPTY;
  private volatile boolean stranger;
  private volatile Node self;
  private volatile List<Node> running = List.of();

  /**
   * A member that has no address yet.
   *
   * @param key with which it is in the group
   */
  public NodeFeed(
      KafkaSettings kafka, Topics topics, String group, Set<Role> roles, MemberKey key) {
    super(kafka, topics.nodes(), "retstack-nodes", INTERVAL, FAREWELL.plus(POLL).plus(FAREWELL));
    this.key = key;
    this.roll = new GroupRoll(kafka, topics.events(), group, ROLL_PATIENCE);
    this.self =
        Node.newBuilder()
            .setNode("")
            .setUrl("")
            .setGroup(group)
            .setRoles(roles.stream().sorted().map(Role::word).toList())
            .build();
    this.table = new NodeTable(group, this::isMember);
  }

  /**
   * Begins to say and to hear.
   *
   * @param node name of this member
   * @param url where it answers
   */
  public void start(String node, URI url) {
    self =
        SignedNode.of(
            Node.newBuilder(self)
                .setNode(node)
                .setUrl(url.toString())
                .setStartedAt(System.currentTimeMillis())
                .build(),
            key);
    begin();
  }

  private boolean isMember(Node node) {
    boolean isMember = members.isMember(SignedNode.digest(node));
    stranger |= !isMember;
    return isMember;
  }

  /** Who is in the group and has which partition, as Kafka said some seconds ago. */
  public GroupRoll.Roll roll() {
    return members;
  }

  /** The members as Kafka says now; where it does not answer, as it said last. Waits for it. */
  public GroupRoll.Roll rollNow() {
    callRoll(true);
    return members;
  }

  /** Proves to a caller that this is the member that announced its address. */
  public String proof(String challenge) {
    return Handshake.proof(key, challenge, self.getUrl());
  }

  /**
   * What it will sign of an answer.
   *
   * @param challenge of the caller, empty where it had none
   * @param question path and query
   */
  public AnswerSeal seal(String challenge, String question) {
    return new AnswerSeal(challenge, self.getUrl(), question);
  }

  /** Signs what was answered so far. */
  public byte[] sign(AnswerSeal answer) {
    return answer.sign(key);
  }

  /** This member. */
  public Node self() {
    return self;
  }

  /**
   * The members that run as far as the topic says, this one among them once it is announced there.
   */
  List<Node> running() {
    return running;
  }

  /** The members that run as far as is known, this one not among them. */
  public List<Node> others() {
    return running.stream().filter(node -> !node.getNode().equals(self.getNode())).toList();
  }

  @Override
  void follow(TopicLog log, KafkaProducer<byte[], byte[]> producer) {
    long said = System.nanoTime() - INTERVAL.toNanos();
    long called = System.nanoTime() - ROLL.toNanos();
    while (!isClosed()) {
      long since = System.nanoTime() - called;
      if (since >= ROLL.toNanos() || (stranger && since >= ROLL_SOONER.toNanos())) {
        stranger = false;
        callRoll(false);
        called = System.nanoTime();
      }
      if (System.nanoTime() - said >= INTERVAL.toNanos()) {
        said = System.nanoTime();
        send(producer, new ProducerRecord<>(topic(), key(), ConfluentFrame.encode(self)));
      }
      for (ConsumerRecord<byte[], byte[]> record : log.poll(POLL)) {
        NodeRecords.read(table, record);
      }
      running = table.running();
    }
  }

  /** Where Kafka does not say who is in the group, those who were there stay. */
  private void callRoll(boolean settled) {
    try {
      members = roll.call(settled);
    } catch (IOException e) {
      log.warn("{}; trying again", e.getMessage());
    }
  }

  @Override
  void leave(KafkaProducer<byte[], byte[]> producer) {
    Node last = SignedNode.of(Node.newBuilder(self).setRoles(List.of()).build(), key);
    send(producer, new ProducerRecord<>(topic(), key(), ConfluentFrame.encode(last)));
    send(producer, new ProducerRecord<>(topic(), key(), null)); // compaction forgets it
    producer.close(FAREWELL);
    roll.close();
  }

  private byte[] key() {
    return NodeTable.key(self.getGroup(), self.getNode()).getBytes(UTF_8);
  }
}
