package dev.retstack.service.reconstruct;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.wire.Topics;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.ingest.TopicAdmin;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.TopicReader;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KafkaLedgerTest {
  private static final String GROUP = "ledger";
  private KafkaSettings kafka;
  private Topics topics;

  @BeforeEach
  void createTopics() throws Exception {
    kafka = KafkaSettings.of(TestBroker.bootstrap());
    topics = new Topics(TestBroker.freshPrefix());
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, 2);
      admin.ensure(topics, 2); // a second time changes nothing
      assertThat(admin.partitions(topics.events())).isEqualTo(2);
    }
  }

  @Test
  void theFirstOwnerStartsAtZeroTheNextWhereItStopped() throws Exception {
    byte[] state = new byte[2 * CheckpointCodec.PART_BYTES];
    new Random(7).nextBytes(state);
    try (KafkaLedger first = ledger(1)) {
      assertThat(first.open()).hasToString(checkpoint(1, 1, 0, new byte[0]).toString());
      assertThat(first.commit(checkpoint(1, 1, 40, state))).isGreaterThan(state.length);
      assertThat(first.commit(checkpoint(1, 1, 42, "small again".getBytes(UTF_8)))).isLessThan(200);
    }
    try (KafkaLedger second = ledger(1);
        KafkaLedger other = ledger(0)) {
      Checkpoint loaded = second.open();
      assertThat(loaded.epoch()).isEqualTo(2);
      assertThat(loaded.nextOffset()).isEqualTo(42);
      assertThat(loaded.state().joined()).asString(UTF_8).isEqualTo("small again");
      assertThat(other.open().nextOffset()).isZero();
    }
  }

  @Test
  void anOwnerThatWasReplacedCannotWrite() throws Exception {
    try (KafkaLedger zombie = ledger(0);
        KafkaLedger owner = ledger(0)) {
      zombie.open();
      zombie.publish(List.of(anomaly("of the zombie")));
      owner.open();
      owner.publish(List.of(anomaly("of the owner")));
      assertThatThrownBy(() -> zombie.commit(checkpoint(0, 1, 99, new byte[] {1})))
          .isInstanceOf(KafkaException.class);
      owner.commit(checkpoint(0, 2, 10, new byte[] {2}));
      assertThat(TopicReader.values(kafka, topics.anomalies()))
          .extracting(value -> new String(value, UTF_8))
          .containsExactly("of the owner");
    }
    try (KafkaLedger next = ledger(0)) {
      assertThat(next.open().nextOffset()).isEqualTo(10);
    }
  }

  private KafkaLedger ledger(int partition) {
    return new KafkaLedger(kafka, topics, GROUP, partition, _ -> {});
  }

  private ProducerRecord<byte[], byte[]> anomaly(String text) {
    return new ProducerRecord<>(topics.anomalies(), 0, null, text.getBytes(UTF_8));
  }

  private static Checkpoint checkpoint(int partition, long epoch, long next, byte[] state) {
    return new Checkpoint(partition, epoch, next, StateBytes.of(state));
  }
}
