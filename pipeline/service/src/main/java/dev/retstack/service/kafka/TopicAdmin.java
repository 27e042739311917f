package dev.retstack.service.kafka;

import dev.retstack.schema.wire.Topics;
import dev.retstack.service.publish.PublishedRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * Creates the topics with their configuration, and answers questions of the service about them.
 * Creation is idempotent: existing topics are left unchanged.
 */
public final class TopicAdmin implements AutoCloseable {
  /** Longest chunk the events topic takes, in bytes. */
  public static final int MAX_MESSAGE_BYTES = PublishedRecord.BYTES_MAX;

  /** Copies of each topic where the cluster has as many brokers; its own default elsewhere. */
  private static final short REPLICAS = 3;

  /** How long the topic remembers a fleet that died. */
  private static final Duration FLEETS_KEPT = Duration.ofDays(30);

  private final KafkaSettings kafka;
  private final Duration patience;
  private final Admin admin;

  /**
   * @param patience how long a fresh or busy cluster may take to answer
   */
  public TopicAdmin(KafkaSettings kafka, Duration patience) {
    this.kafka = kafka;
    this.patience = patience;
    this.admin = Admin.create(kafka.admin());
  }

  /**
   * Makes sure that all topics exist and that every partition of them has a leader.
   *
   * @param partitions partitions of the topics this call has to create
   * @throws KafkaUnavailableException when the cluster does not answer in time, or the topics found
   *     do not fit together
   * @throws OtherVersionException where topics of another version stand under the prefix
   */
  public void ensure(Topics topics, int partitions)
      throws KafkaUnavailableException, OtherVersionException, InterruptedException {
    Set<String> present = ask("list the topics", () -> admin.listTopics().names().get(1, SECONDS));
    for (String topic : present) {
      OptionalInt other = topics.otherVersion(topic);
      if (other.isPresent()) {
        throw new OtherVersionException(
            "topic " + topic, other.getAsInt(), Topics.VERSION, "give another --prefix");
      }
    }
    int count =
        present.contains(topics.events()) ? partitions(topics.events()) : Math.max(1, partitions);
    List<NewTopic> missing = new ArrayList<>();
    for (NewTopic topic : wanted(topics, count)) {
      if (!present.contains(topic.name())) {
        missing.add(topic);
      }
    }
    boolean replicated =
        !missing.isEmpty()
            && ask("count the brokers", () -> admin.describeCluster().nodes().get(5, SECONDS))
                    .size()
                >= REPLICAS;
    for (NewTopic topic : missing) {
      NewTopic wanted = replicated ? replicated(topic) : topic;
      ask("create topic " + topic.name(), () -> create(wanted));
    }
    for (NewTopic topic : wanted(topics, count)) {
      awaitLeaders(topic.name());
    }
    int statePartitions = partitions(topics.state());
    if (statePartitions < count) {
      throw new KafkaUnavailableException(
          "topic %s has %d partitions, topic %s has %d: add partitions to %s"
              .formatted(topics.state(), statePartitions, topics.events(), count, topics.state()),
          null);
    }
  }

  /** Number of partitions of a topic that exists. */
  public int partitions(String topic) throws KafkaUnavailableException, InterruptedException {
    return describe(topic).partitions().size();
  }

  /** Offset after the last record of each partition, open transactions included. */
  public Map<TopicPartition, Long> endOffsets(String topic)
      throws KafkaUnavailableException, InterruptedException {
    Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
    for (int p = 0; p < partitions(topic); p++) {
      asked.put(new TopicPartition(topic, p), OffsetSpec.latest());
    }
    var options = new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED);
    var found =
        ask(
            "read the end of topic " + topic,
            () -> admin.listOffsets(asked, options).all().get(5, SECONDS));
    Map<TopicPartition, Long> ends = new HashMap<>();
    found.forEach((partition, info) -> ends.put(partition, info.offset()));
    return ends;
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(5));
  }

  /**
   * Every topic of the product: a log, or a table of last values ("compacted"). Commands and their
   * answers are a log that is kept for ever: it says what cores that join later are to trace, and
   * who said so. A table by target would forget the issuer, and earlier commands to that target.
   */
  private static List<NewTopic> wanted(Topics topics, int partitions) {
    String log = TopicConfig.CLEANUP_POLICY_DELETE;
    String table = TopicConfig.CLEANUP_POLICY_COMPACT;
    return List.of(
        brokersTime(topic(topics.events(), partitions, log)),
        brokersTime(topic(topics.images(), 1, table)),
        keptForEver(topic(topics.control(), 1, log)),
        keptForEver(topic(topics.controlResults(), 1, log)),
        brokersTime(topic(topics.spans(), partitions, log)),
        brokersTime(topic(topics.anomalies(), partitions, log)),
        brokersTime(topic(topics.profiles(), partitions, table)),
        brokersTime(topic(topics.deadLetters(), 1, log)),
        checkpoints(brokersTime(topic(topics.state(), partitions, table))),
        announcements(topic(topics.nodes(), 1, table + "," + log)),
        heartbeats(topic(topics.fleets(), 1, table + "," + log)));
  }

  /**
   * Records get the broker's time. With that of who wrote them a broker refuses what is from more
   * than an hour ahead of it, and retention goes by clocks of fleets.
   */
  private static NewTopic brokersTime(NewTopic topic) {
    Map<String, String> config = new HashMap<>(topic.configs());
    config.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "LogAppendTime");
    return topic.configs(config);
  }

  /** Small, soon forgotten, and in the broker's time: members' clocks may differ. */
  private static NewTopic announcements(NewTopic table) {
    Map<String, String> config = new HashMap<>(brokersTime(table).configs());
    config.put(TopicConfig.RETENTION_MS_CONFIG, "3600000");
    config.put(TopicConfig.SEGMENT_MS_CONFIG, "600000");
    config.put(TopicConfig.SEGMENT_BYTES_CONFIG, String.valueOf(1 << 20));
    return table.configs(config);
  }

  /**
   * The last heartbeat of a dead fleet is the proof that its cores are dead: it is kept for longer
   * than events usually are.
   */
  private static NewTopic heartbeats(NewTopic table) {
    NewTopic small = announcements(table);
    Map<String, String> config = new HashMap<>(small.configs());
    config.put(TopicConfig.RETENTION_MS_CONFIG, String.valueOf(FLEETS_KEPT.toMillis()));
    return small.configs(config);
  }

  /**
   * Written over every few seconds, and read whole by who takes a partition over. The segment that
   * is written to is never compacted: the smaller it is, the less is read in vain.
   */
  private static NewTopic checkpoints(NewTopic table) {
    Map<String, String> config = new HashMap<>(table.configs());
    config.put(TopicConfig.SEGMENT_BYTES_CONFIG, String.valueOf(8 << 20));
    return table.configs(config);
  }

  /** On a cluster that can, a record counts when two of three have it, and one broker may die. */
  private static NewTopic replicated(NewTopic topic) {
    Map<String, String> config = new HashMap<>(topic.configs());
    config.put(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, String.valueOf(REPLICAS - 1));
    return new NewTopic(topic.name(), Optional.of(topic.numPartitions()), Optional.of(REPLICAS))
        .configs(config);
  }

  private static NewTopic keptForEver(NewTopic log) {
    Map<String, String> config = new HashMap<>(log.configs());
    config.put(TopicConfig.RETENTION_MS_CONFIG, "-1");
    config.put(TopicConfig.RETENTION_BYTES_CONFIG, "-1");
    return log.configs(config);
  }

  private static NewTopic topic(String name, int partitions, String cleanup) {
    Map<String, String> config =
        cleanup.startsWith(TopicConfig.CLEANUP_POLICY_COMPACT)
            ? Map.of(
                TopicConfig.CLEANUP_POLICY_CONFIG,
                cleanup,
                TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                String.valueOf(MAX_MESSAGE_BYTES),
                // what was superseded goes soon: a table is read from its start
                TopicConfig.SEGMENT_BYTES_CONFIG,
                String.valueOf(32 << 20),
                TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG,
                "0.2")
            : Map.of(
                TopicConfig.CLEANUP_POLICY_CONFIG,
                cleanup,
                TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                String.valueOf(MAX_MESSAGE_BYTES));
    // the replication factor is the cluster's own default
    return new NewTopic(name, Optional.of(partitions), Optional.empty()).configs(config);
  }

  private Void create(NewTopic topic) throws Exception {
    try {
      admin.createTopics(List.of(topic)).all().get(10, SECONDS);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
    }
    return null;
  }

  private void awaitLeaders(String topic) throws KafkaUnavailableException, InterruptedException {
    ask(
        "find a leader for every partition of topic " + topic,
        () -> {
          var found = admin.describeTopics(List.of(topic)).allTopicNames().get(5, SECONDS);
          if (found.get(topic).partitions().stream().anyMatch(p -> p.leader() == null)) {
            throw new TimeoutException("a partition of " + topic + " has no leader yet");
          }
          return null;
        });
  }

  private TopicDescription describe(String topic)
      throws KafkaUnavailableException, InterruptedException {
    return ask(
        "describe topic " + topic,
        () -> admin.describeTopics(List.of(topic)).allTopicNames().get(5, SECONDS).get(topic));
  }

  private static final TimeUnit SECONDS = TimeUnit.SECONDS;

  private interface Request<T> {
    T run() throws Exception;
  }

  /** Repeats a request that a cluster still starting up refuses ("coordinator not available"). */
  private <T> T ask(String what, Request<T> request)
      throws KafkaUnavailableException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      Throwable refusal;
      try {
        return request.run();
      } catch (ExecutionException e) {
        refusal = e.getCause();
      } catch (TimeoutException e) {
        refusal = e;
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        throw unavailable(what, e);
      }
      boolean retry = refusal instanceof RetriableException || refusal instanceof TimeoutException;
      if (!retry || System.nanoTime() > deadline) {
        throw unavailable(what, refusal);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private KafkaUnavailableException unavailable(String what, Throwable cause) {
    String why = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    return new KafkaUnavailableException(
        "cannot %s on Kafka at %s: %s: check the address and that the brokers run"
            .formatted(what, kafka.bootstrap(), why),
        cause);
  }
}
