package dev.retstack.service.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.retstack.service.kafka.KafkaSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class LogConsumersTest {
  /** No broker is there: consumers connect when they are asked for something. */
  private final LogConsumers consumers = new LogConsumers(KafkaSettings.of("localhost:1"));

  @Test
  void theLastOneIsUsedAgainWithoutItsPartitions() {
    try (consumers) {
      KafkaConsumer<byte[], byte[]> first = consumers.take();
      KafkaConsumer<byte[], byte[]> second = consumers.take();
      first.assign(Set.of(new TopicPartition("events", 0)));
      consumers.giveBack(second);
      consumers.giveBack(first);
      assertThat(consumers.take()).isSameAs(first);
      assertThat(first.assignment()).isEmpty();
      assertThat(consumers.take()).isSameAs(second);
      LogConsumers.close(first);
      LogConsumers.close(second);
    }
  }

  @Test
  void fourWaitAndMoreAreClosed() {
    List<KafkaConsumer<byte[], byte[]>> taken = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      taken.add(consumers.take());
    }
    taken.forEach(consumers::giveBack);
    assertIsClosed(taken.getLast());
    consumers.close();
    taken.forEach(LogConsumersTest::assertIsClosed);
    KafkaConsumer<byte[], byte[]> late = consumers.take();
    consumers.giveBack(late);
    assertIsClosed(late);
  }

  private static void assertIsClosed(KafkaConsumer<byte[], byte[]> consumer) {
    assertThatIllegalStateException()
        .isThrownBy(consumer::assignment)
        .withMessageContaining("closed");
  }
}
