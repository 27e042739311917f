package dev.retstack.service.ingest;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The consumer of a member of the group. It tells {@link GroupMember} as whom the member commits:
 * only the consumer's own thread may ask for that.
 */
final class MemberConsumer extends KafkaConsumer<byte[], byte[]> {
  private static final String MEMBER = "retstack.member";

  private final GroupMember member;

  /**
   * A consumer that has joined no group yet.
   *
   * @param config of a Kafka consumer
   */
  MemberConsumer(Map<String, Object> config, GroupMember member) {
    super(with(config, member), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    this.member = member;
  }

  private static Map<String, Object> with(Map<String, Object> config, GroupMember member) {
    Map<String, Object> all = new HashMap<>(config);
    if (all.containsKey(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG)) {
      all.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, Assignor.class.getName());
      all.put(MEMBER, member);
    }
    return all;
  }

  /**
   * Kafka's own assignor, under its own name. Its data is asked for when the member joins, and that
   * is the only way to learn of it.
   */
  public static final class Assignor extends CooperativeStickyAssignor implements Configurable {
    private GroupMember member;

    @Override
    public void configure(Map<String, ?> configs) {
      member = (GroupMember) configs.get(MEMBER);
    }

    @Override
    public ByteBuffer subscriptionUserData(Set<String> topics) {
      member.joins();
      return super.subscriptionUserData(topics);
    }
  }

  @Override
  public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
    try {
      return super.poll(timeout);
    } finally {
      member.is(groupMetadata());
    }
  }

  @Override
  public void subscribe(Collection<String> topics, ConsumerRebalanceListener listener) {
    super.subscribe(
        topics,
        new ConsumerRebalanceListener() {
          @Override
          public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            member.joined(groupMetadata());
            listener.onPartitionsRevoked(partitions);
          }

          @Override
          public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            member.joined(groupMetadata());
            listener.onPartitionsAssigned(partitions);
          }

          @Override
          public void onPartitionsLost(Collection<TopicPartition> partitions) {
            listener.onPartitionsLost(partitions);
          }
        });
  }
}
