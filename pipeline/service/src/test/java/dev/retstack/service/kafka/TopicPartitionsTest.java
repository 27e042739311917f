package dev.retstack.service.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.service.support.TestBroker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class TopicPartitionsTest {
  /** Tells when it was asked for the first time; the topic is created only then. */
  private static final class Asked extends KafkaConsumer<byte[], byte[]> {
    private final CountDownLatch once;

    Asked(KafkaSettings kafka, CountDownLatch once) {
      super(kafka.consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
      this.once = once;
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
      List<PartitionInfo> found = super.partitionsFor(topic, timeout);
      once.countDown();
      return found;
    }
  }

  @Test
  void aTopicThatTheBrokerDoesNotKnowYetIsWaitedFor() throws Exception {
    KafkaSettings kafka = KafkaSettings.of(TestBroker.bootstrap());
    String topic = TestBroker.freshPrefix();
    CountDownLatch asked = new CountDownLatch(1);
    try (Asked consumer = new Asked(kafka, asked);
        Admin admin = Admin.create(kafka.admin())) {
      var found = CompletableFuture.supplyAsync(() -> TopicPartitions.of(consumer, topic));
      asked.await();
      admin
          .createTopics(List.of(new NewTopic(topic, Optional.of(2), Optional.empty())))
          .all()
          .get();
      assertThat(found.get())
          .containsExactlyInAnyOrder(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
    }
  }

  @Test
  void aQuestionCreatesNoTopic() throws Exception {
    KafkaSettings kafka = KafkaSettings.of(TestBroker.bootstrap());
    String topic = TestBroker.freshPrefix();
    try (Asked consumer = new Asked(kafka, new CountDownLatch(1));
        Admin admin = Admin.create(kafka.admin())) {
      assertThatThrownBy(() -> TopicPartitions.of(consumer, topic, Duration.ofMillis(200)))
          .isInstanceOf(UnknownTopicOrPartitionException.class)
          .hasMessageContaining(topic);
      assertThat(admin.listTopics().names().get()).doesNotContain(topic);
    }
  }
}
