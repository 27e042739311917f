package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.snapshot.StateVersions;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.reconstruct.VersionRule;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the nodes topic that this member runs, and hears who else does. Runs on a thread of its
 * own until closed. A Kafka that is away makes it wait, not fail: ingest has the last word there.
 */
public final class NodeFeed implements VersionRule, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(NodeFeed.class);
  private static final Duration POLL = Duration.ofMillis(250);
  private static final Duration FAREWELL = Duration.ofSeconds(3);

  private final KafkaSettings kafka;
  private final String topic;
  private final NodeTable table;
  private final VersionVote vote;
  private final Thread thread;
  private volatile Node self;
  private volatile ClusterMark cluster = ClusterMark.NONE;
  private volatile boolean hasNews;
  private volatile List<Node> running = List.of();
  private volatile List<NodeTable.Announced> inOrder = List.of();
  private final CompletableFuture<Boolean> caughtUp = new CompletableFuture<>();
  private volatile boolean closed;

  /**
   * A member that has no address yet.
   *
   * @param topic the nodes topic
   * @param reads versions of state that it reads
   */
  public NodeFeed(
      KafkaSettings kafka, String topic, String group, Set<Role> roles, StateVersions reads) {
    this.kafka = kafka;
    this.topic = topic;
    this.self =
        Node.newBuilder()
            .setNode("")
            .setUrl("")
            .setGroup(group)
            .setRoles(roles.stream().sorted().map(Role::word).toList())
            .build();
    this.table = new NodeTable(group);
    this.vote = new VersionVote(group, reads);
    this.thread = Thread.ofPlatform().daemon().name("retstack-nodes").unstarted(this::run);
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
    thread.start();
  }

  /** This member. */
  public Node self() {
    return self;
  }

  /** The members that run as far as is known, this one not among them. */
  public List<Node> others() {
    return running.stream().filter(node -> !node.getNode().equals(self.getNode())).toList();
  }

  @Override
  public StateVersions reads() {
    return vote.own();
  }

  @Override
  public int toWrite(int current) {
    synchronized (vote) {
      return vote.toWrite(current);
    }
  }

  @Override
  public String holdingBack() {
    synchronized (vote) {
      return vote.holdingBack();
    }
  }

  /** Whether another member that runs reads this version of state. */
  public boolean othersRead(int version) {
    synchronized (vote) {
      return vote.othersRead(NodeTable.key(self.getGroup(), self.getNode()), version);
    }
  }

  /** Whether all was heard that had been said before. */
  public CompletableFuture<Boolean> caughtUp() {
    return caughtUp;
  }

  /** Says where this member can be joined, at once. */
  public void joinAt(ClusterMark mark) {
    cluster = mark;
    hasNews = true;
  }

  /** The members that run as far as is known, this one among them, in the order they came in. */
  public List<NodeTable.Announced> inOrder() {
    return inOrder;
  }

  private void run() {
    while (!closed) {
      try (KafkaConsumer<byte[], byte[]> consumer = NodeRecords.consumer(kafka);
          KafkaProducer<byte[], byte[]> producer =
              new KafkaProducer<>(
                  settings(), new ByteArraySerializer(), new ByteArraySerializer())) {
        follow(consumer, producer);
        var _ = producer.send(new ProducerRecord<>(topic, key(), null));
        producer.close(FAREWELL);
      } catch (KafkaException e) {
        log.warn("cannot follow topic {}: {}; trying again", topic, e.getMessage());
        pause();
      }
    }
  }

  private void follow(
      KafkaConsumer<byte[], byte[]> consumer, KafkaProducer<byte[], byte[]> producer) {
    var partition = List.of(NodeRecords.partition(topic));
    consumer.assign(partition);
    consumer.seekToBeginning(partition);
    long end = consumer.endOffsets(partition).get(partition.getFirst());
    long interval = Duration.ofMillis(NodeTable.INTERVAL_MILLIS).toNanos();
    long said = System.nanoTime() - interval;
    while (!closed) {
      if (hasNews || System.nanoTime() - said >= interval) {
        hasNews = false;
        said = System.nanoTime();
        var record = new ProducerRecord<>(topic, key(), ConfluentFrame.encode(self));
        VersionVote.say(vote.own(), record.headers());
        cluster.addTo(record.headers());
        var _ =
            producer.send(
                record,
                (_, failure) -> {
                  if (failure != null && !closed) {
                    log.warn("cannot announce this member in {}: {}", topic, failure.getMessage());
                  }
                });
      }
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        NodeRecords.tell(table, record);
        vote(record);
      }
      if (!caughtUp.isDone() && consumer.position(partition.getFirst()) >= end) {
        synchronized (vote) {
          vote.caughtUp();
        }
        caughtUp.complete(true);
      }
      running = table.running();
      inOrder = table.inOrder();
    }
  }

  private void vote(ConsumerRecord<byte[], byte[]> record) {
    if (record.key() != null) {
      Optional<StateVersions> reads =
          Optional.ofNullable(record.value()).map(_ -> VersionVote.said(record.headers()));
      synchronized (vote) {
        vote.heard(new String(record.key(), UTF_8), reads, record.timestamp());
      }
    }
  }

  /** Nobody waits longer than this for a broker that is away: the next word replaces this one. */
  private Map<String, Object> settings() {
    Map<String, Object> settings = new HashMap<>(kafka.producer());
    settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "2000");
    return settings;
  }

  private byte[] key() {
    return NodeTable.key(self.getGroup(), self.getNode()).getBytes(UTF_8);
  }

  private void pause() {
    try {
      Thread.sleep(Duration.ofMillis(NodeTable.INTERVAL_MILLIS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  /** Takes back what it said. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join(FAREWELL.plus(POLL).plus(FAREWELL));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
