package dev.retstack.service.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.support.JoinedGroup;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Order(1)
class KafkaLedgerTest {
  private static final Waits WAITS = new Waits(Duration.ofSeconds(60));
  private JoinedGroup group;
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
    group = new JoinedGroup(kafka, topics.events(), topics.prefix());
    WAITS.await("it is in the group", () -> group.poll().size() == 2);
  }

  @AfterEach
  void leave() {
    group.close();
  }

  @Test
  void aGroupWithoutStateBeginsWhereItIsToldAndGoesOnFromThere() throws Exception {
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < 6; i++) {
        producer.send(new ProducerRecord<>(topics.events(), i % 2, null, new byte[] {1})).get();
      }
    }
    assertThatThrownBy(() -> opened(0, new StartAt.Offset(4)))
        .hasMessageContaining("the start 4 is behind the end of " + topics.events() + "-0")
        .hasMessageContaining("which is 3");
    assertThat(opened(0, new StartAt.Offset(2)).nextOffset()).isEqualTo(2);
    assertThat(opened(0, new StartAt.Latest()).nextOffset()).isEqualTo(2); // of its state
    Instant later = Instant.now().plus(Duration.ofHours(1));
    assertThat(opened(1, new StartAt.Time(later)).nextOffset()).isEqualTo(3);
  }

  private Checkpoint opened(int partition, StartAt start) throws Exception {
    try (KafkaLedger ledger =
        new KafkaLedger(kafka, topics, topics.prefix(), partition, group.member(), start)) {
      return ledger.open();
    }
  }

  /** The group moved: nobody has opened its partition yet, and it is refused all the same. */
  @ParameterizedTest
  @EnumSource(GroupProtocol.class)
  void aMemberOfAnOldGenerationIsRefused(GroupProtocol protocol) throws Exception {
    String moving = "moves-" + topics.prefix();
    KafkaSettings spoken = kafka.withGroupProtocol(protocol);
    try (var first = new JoinedGroup(spoken, topics.events(), moving);
        var second = new JoinedGroup(spoken, topics.events(), moving)) {
      WAITS.await("the first has all", () -> first.poll().size() == 2);
      ConsumerGroupMetadata old = first.metadata();
      GroupMember one = first.member();
      List<KafkaLedger> ledgers = new ArrayList<>();
      try {
        for (int p = 0; p < 2; p++) {
          ledgers.add(new KafkaLedger(kafka, topics, moving, p, one, new StartAt.Earliest()));
          ledgers.get(p).open();
          ledgers.get(p).commit(checkpoint(p, 1, 10, new byte[] {1}));
          ledgers.get(p).publish(List.of(anomaly(p, "of the zombie")));
        }
        WAITS.await(
            "each has one and knows the new generation",
            () -> {
              int firsts = first.poll().size();
              int seconds = second.poll().size();
              return firsts == 1
                  && seconds == 1
                  && first.metadata().generationId() == second.metadata().generationId();
            });
        int moved = second.poll().iterator().next().partition();
        int stayed = 1 - moved;
        KafkaLedger gone = ledgers.get(moved);
        assertThatThrownBy(() -> gone.commit(checkpoint(moved, 1, 99, new byte[] {2})))
            .isInstanceOf(CommitFailedException.class);
        gone.publish(List.of(anomaly(moved, "of the zombie"))); // on its way meanwhile

        KafkaLedger mine = ledgers.get(stayed);
        first.member();
        mine.goBack();
        mine.publish(List.of(anomaly(stayed, "of the one that stayed")));
        mine.commit(checkpoint(stayed, 1, 20, new byte[] {3}));
        try (KafkaLedger next =
            new KafkaLedger(
                kafka, topics, moving, moved, second.member(), new StartAt.Earliest())) {
          assertThat(next.open().nextOffset()).isEqualTo(10);
          try (KafkaLedger late =
              new KafkaLedger(
                  kafka, topics, moving, moved, first.member(), new StartAt.Earliest())) {
            assertThatThrownBy(late::open).isInstanceOf(CommitFailedException.class);
          }
          next.publish(List.of(anomaly(moved, "of the next owner")));
          next.commit(checkpoint(moved, 2, 30, new byte[] {4}));
        }
        System.out.printf("%s: %s is refused, %s is not%n", protocol, old, one.commitsAs(stayed));
      } finally {
        ledgers.forEach(KafkaLedger::close);
      }
    }
    assertThat(TopicReader.values(kafka, topics.anomalies()))
        .extracting(value -> new String(value, UTF_8))
        .containsExactlyInAnyOrder("of the one that stayed", "of the next owner");
  }

  @Test
  void theFirstOwnerStartsAtZeroTheNextWhereItStopped() throws Exception {
    byte[] state = new byte[2 * CheckpointCodec.PIECE_BYTES];
    new Random(7).nextBytes(state);
    try (KafkaLedger first = ledger(1)) {
      assertThat(first.open()).isEqualTo(new Checkpoint(1, 1, 0, Map.of()));
      assertThat(first.commit(new Checkpoint(1, 1, 30, Map.of("i/1", new byte[] {1}))))
          .isLessThan(200);
      assertThat(first.commit(checkpoint(1, 1, 40, state))).isGreaterThan(state.length);
      assertThat(first.commit(checkpoint(1, 1, 42, "small again".getBytes(UTF_8)))).isLessThan(200);
    }
    try (KafkaLedger second = ledger(1);
        KafkaLedger other = ledger(0)) {
      Checkpoint loaded = second.open();
      assertThat(loaded.epoch()).isEqualTo(2);
      assertThat(loaded.nextOffset()).isEqualTo(42);
      assertThat(loaded.parts()).containsOnlyKeys("i/0", "i/1");
      assertThat(loaded.parts().get("i/0")).asString(UTF_8).isEqualTo("small again");
      Map<String, byte[]> gone = new HashMap<>();
      gone.put("i/0", null);
      second.commit(new Checkpoint(1, 2, 43, gone));
      assertThat(second.goBack().parts()).containsOnlyKeys("i/1");
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

  /** What was not committed is gone, also to readers; what stands in events can be read again. */
  @Test
  void anOwnerGoesBackByItself() throws Exception {
    try (KafkaLedger owner = ledger(0);
        KafkaProducer<byte[], byte[]> events =
            new KafkaProducer<>(
                kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < 300; i++) {
        byte[] value = new byte[i % 100 == 99 ? 900_000 : 100 + i];
        var _ = events.send(new ProducerRecord<>(topics.events(), 0, null, value));
      }
      events.flush();
      owner.open();
      assertThat(owner.goBack().nextOffset()).isZero();
      owner.publish(List.of(anomaly("kept")));
      owner.commit(checkpoint(0, 1, 40, new byte[] {1}));
      owner.publish(List.of(anomaly("given up")));
      assertThat(owner.goBack().nextOffset()).isEqualTo(40);
      owner.publish(List.of(anomaly("anew")));
      owner.commit(checkpoint(0, 1, 50, new byte[] {2}));
      assertThat(TopicReader.values(kafka, topics.anomalies()))
          .extracting(value -> new String(value, UTF_8))
          .containsExactly("kept", "anew");

      long[] wanted = {0, 1, 2, 99, 120, 298, 299};
      Ledger.Found found = owner.read(wanted);
      assertThat(found.records())
          .extracting(r -> r.offset())
          .containsExactly(0L, 1L, 2L, 99L, 120L, 298L, 299L);
      assertThat(found.end()).isEqualTo(300);
      assertThat(owner.read(LongStream.range(40, 296).toArray()).records())
          .extracting(r -> r.offset())
          .containsExactlyElementsOf(LongStream.range(40, 296).boxed().toList());
      try (Admin admin = Admin.create(kafka.admin())) {
        var before =
            Map.of(new TopicPartition(topics.events(), 0), RecordsToDelete.beforeOffset(100));
        admin.deleteRecords(before).all().get();
      }
      Ledger.Found rest = owner.read(wanted);
      assertThat(rest.records()).extracting(r -> r.offset()).containsExactly(120L, 298L, 299L);
      assertThat(rest.end()).isEqualTo(300);
    }
  }

  @Test
  void aForgedCheckpointIsRefusedWithItsCure() throws Exception {
    try (KafkaLedger ledger = ledger(0)) {
      ledger.open();
      ledger.commit(checkpoint(0, 1, 5, new byte[3]));
    }
    write("i/0", record(1, CheckpointCodec.PIECE_BYTES + 1, new byte[3]));
    refused("claims");
    write("i/0", record(1, Integer.MAX_VALUE, new byte[3]));
    refused("");
    write("i/0", record(2, 3, new byte[3]));
    refused("piece 1 of 2 of i/0 is missing");
    write("i/0", record(1, 4, new byte[3]));
    refused("does not unpack");
    write("i/0", "none".getBytes(UTF_8));
    refused("4 bytes are in the place of a checkpoint");
    write("i/0", record(1, 3, new byte[3]));
    write("i/0~1", record(1, 3, new byte[3]));
    refused("belong to no part");
    write("i/0~1", null);
    write("head", record(1, 3, new byte[3])); // no part is written but with a new head
    refused("the state there is another");
    write("head", null);
    try (KafkaLedger ledger = ledger(0)) {
      Checkpoint read = ledger.open();
      assertThatThrownBy(
              () ->
                  StateCopy.state(
                      read.parts(),
                      GraphLimits.DEFAULT,
                      TimeRules.DEFAULT,
                      StateBudget.UNLIMITED,
                      LateSymbols.NONE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("1 parts without a head")
          .hasMessageContaining("--group");
    }
    write("at", null);
    refused("names no position of the state under the keys of partition 0");
  }

  private void refused(String why) {
    try (KafkaLedger ledger = ledger(0)) {
      assertThatThrownBy(ledger::open)
          .isInstanceOf(UnreadableCheckpointException.class)
          .hasMessageContaining(why)
          .hasMessageContaining("--group");
    }
  }

  /** A record with a right checksum, as CheckpointCodec has them. */
  private static byte[] record(int pieces, int raw, byte[] bytes) {
    byte[] form = CheckpointCodec.encode(new byte[0]).getFirst();
    ByteBuffer record = ByteBuffer.allocate(form.length + bytes.length).put(form).put(bytes);
    record.putInt(9, pieces).putInt(13, raw);
    CRC32C sum = new CRC32C();
    sum.update(record.array(), 9, record.array().length - 9);
    return record.putInt(5, (int) sum.getValue()).array();
  }

  private void write(String key, byte[] record) throws Exception {
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] whole = (topics.prefix() + "/0/" + key).getBytes(UTF_8);
      var _ = producer.send(new ProducerRecord<>(topics.state(), 0, whole, record)).get();
    }
  }

  @Test
  void anEpochOrOffsetThatNoPartitionReachesIsForged() throws Exception {
    for (long forged : List.of(-1L, Long.MIN_VALUE, 1L << 62, Long.MAX_VALUE)) {
      for (boolean isEpoch : List.of(true, false)) {
        ByteBuffer at = ByteBuffer.allocate(4 + 8 + 8 + 8).putInt(0);
        at.putLong(isEpoch ? forged : 1).putLong(isEpoch ? 1 : -1 - Math.abs(forged >> 1));
        write("at", CheckpointCodec.encode(at.array()).getFirst());
        try (KafkaLedger ledger = ledger(0)) {
          assertThatThrownBy(ledger::open)
              .as("%d", forged)
              .isInstanceOf(UnreadableCheckpointException.class);
        }
      }
    }
  }

  /** A repair that is repaired before it came as far publishes nothing again either. */
  @Test
  void aRepairSaysUpToWhereItsEventsWerePublished() throws Exception {
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < 60; i++) {
        var _ = producer.send(new ProducerRecord<>(topics.events(), 0, null, new byte[] {1})).get();
      }
    }
    try (KafkaLedger ledger = ledger(0)) {
      Checkpoint begun = ledger.open();
      ledger.commit(checkpoint(0, begun.epoch(), 42, new byte[] {1}));
    }
    for (long reached : new long[] {0, 7, 50}) {
      write("at", new byte[] {1});
      try (KafkaLedger ledger =
          new KafkaLedger(
              kafka, topics, topics.prefix(), 0, group.member(), new StartAt.Earliest(), true)) {
        Checkpoint anew = ledger.open();
        assertThat(anew.nextOffset()).isZero();
        assertThat(Checkpoint.takePublished(new HashMap<>(anew.parts()))).isEqualTo(42);
        ledger.commit(checkpoint(0, anew.epoch(), reached, new byte[] {1}));
      }
    }
    write("at", new byte[] {1});
    try (KafkaLedger ledger =
        new KafkaLedger(
            kafka, topics, topics.prefix(), 0, group.member(), new StartAt.Earliest(), true)) {
      assertThat(Checkpoint.takePublished(new HashMap<>(ledger.open().parts()))).isEqualTo(50);
    }
  }

  private KafkaLedger ledger(int partition) {
    return new KafkaLedger(
        kafka, topics, topics.prefix(), partition, group.member(), new StartAt.Earliest());
  }

  private ProducerRecord<byte[], byte[]> anomaly(String text) {
    return anomaly(0, text);
  }

  private ProducerRecord<byte[], byte[]> anomaly(int partition, String text) {
    return new ProducerRecord<>(topics.anomalies(), partition, null, text.getBytes(UTF_8));
  }

  private static Checkpoint checkpoint(int partition, long epoch, long next, byte[] state) {
    return new Checkpoint(partition, epoch, next, Map.of("i/0", state));
  }
}
