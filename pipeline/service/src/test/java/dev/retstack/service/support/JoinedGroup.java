package dev.retstack.service.support;

import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A real member of a consumer group, which goes on as far as it is polled. */
public final class JoinedGroup implements AutoCloseable {
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final GroupMember member = new GroupMember("");

  /** One that begins to join with the first {@link #poll}. */
  public JoinedGroup(KafkaSettings kafka, String topic, String group) {
    Map<String, Object> config = kafka.member();
    config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
    consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    consumer.subscribe(List.of(topic));
  }

  /** Goes on a little; the partitions that it has then. */
  public Set<TopicPartition> poll() {
    consumer.poll(Duration.ofMillis(10));
    return consumer.assignment();
  }

  /** As whom the group knows it now. */
  public ConsumerGroupMetadata metadata() {
    return consumer.groupMetadata();
  }

  /** What ledgers commit as: the member as it is now. */
  public GroupMember member() {
    member.joined(metadata());
    Set<Integer> has =
        consumer.assignment().stream().map(TopicPartition::partition).collect(Collectors.toSet());
    Set<Integer> gone = new HashSet<>(member.toOpen());
    gone.removeAll(has);
    member.takenBack(gone);
    member.given(has);
    return member;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
