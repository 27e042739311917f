package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.Fleet;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.identity.MemberKey;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.OwnBroker;
import dev.retstack.service.support.Waits;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/**
 * What dead fleets and members said last is deleted by a real broker: nobody comes back by it, and
 * those that live are counted as before. The broker takes the time of records from who writes them
 * here, so that the past need not be waited for.
 */
class ExpiryTest {
  private static final Waits WAITS = new Waits(Duration.ofSeconds(60));
  private static final long KEPT = 600_000;
  private static final long BEAT = FleetTable.INTERVAL_MILLIS;

  /** Records of a topic in the order and at the times that the test wants. */
  private record Past(KafkaProducer<byte[], byte[]> producer, String topic) {
    void say(String key, byte[] value, long millis) throws Exception {
      producer.send(new ProducerRecord<>(topic, 0, millis, key.getBytes(UTF_8), value)).get();
    }

    void fleet(String session, long millis) throws Exception {
      Fleet fleet = Fleet.newBuilder().setSession(session).setFleet("f").build();
      say(session + "/f", ConfluentFrame.encode(fleet), millis);
    }
  }

  private static KafkaProducer<byte[], byte[]> producer(LiveBench bench) {
    return new KafkaProducer<>(
        bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer());
  }

  /**
   * Times are those of the writers, and a segment ends after 5 s of them. Nothing is compacted:
   * that would put what is old into one segment with what is new, and it would stay.
   */
  private static void ofThePast(OwnBroker broker, String topic) throws Exception {
    broker.set(
        topic,
        Map.of(
            "message.timestamp.type", "CreateTime",
            "segment.ms", "5000",
            "min.compaction.lag.ms", "86400000"));
  }

  private static void expire(OwnBroker broker, LiveBench bench, String topic) throws Exception {
    broker.set(topic, Map.of("retention.ms", String.valueOf(KEPT)));
    TopicPartition partition = new TopicPartition(topic, 0);
    try (Admin admin = Admin.create(bench.kafka().admin())) {
      WAITS.await(
          "the oldest records of " + topic + " are deleted",
          () ->
              admin
                      .listOffsets(Map.of(partition, OffsetSpec.earliest()))
                      .partitionResult(partition)
                      .get()
                      .offset()
                  > 0);
    }
  }

  @Test
  void aDeadFleetThatExpiresStaysDeadForWhoKnewItAndNobodyElseDies() throws Exception {
    try (OwnBroker broker = OwnBroker.thatDeletesSoon()) {
      LiveBench bench = LiveBench.at(broker.bootstrap());
      String topic = bench.topics().fleets();
      ofThePast(broker, topic);
      try (FleetFeed early = feed(bench);
          KafkaProducer<byte[], byte[]> producer = producer(bench)) {
        Past past = new Past(producer, topic);
        long now = System.currentTimeMillis();
        past.fleet("dead", now - 2 * KEPT);
        for (long t = now - 2 * KEPT; t <= now; t += KEPT / 10) {
          past.fleet("alive", t);
        }
        early.start();
        WAITS.await("it is dead", () -> early.deaths().sessions().containsKey("dead"));
        expire(broker, bench, topic);
        try (FleetFeed late = feed(bench)) {
          late.start();
          // both have read all when the other one is dead as well
          for (long t = now; t <= now + 10 * BEAT; t += BEAT) {
            past.fleet("third", t);
          }
          WAITS.await("late", () -> late.deaths().sessions().containsKey("alive"));
          WAITS.await("early", () -> early.deaths().sessions().containsKey("alive"));
          assertThat(late.deaths().sessions()).as("it never heard of it").doesNotContainKey("dead");
          assertThat(early.deaths().sessions()).containsKeys("dead", "alive");
          assertThat(early.deaths().sessions().get("dead").since()).isEqualTo(now - 2 * KEPT);
        }
      }
    }
  }

  private static FleetFeed feed(LiveBench bench) {
    return new FleetFeed(bench.kafka(), bench.topics(), LiveBench.PARTITIONS, _ -> {});
  }

  @Test
  void aDeadMemberThatExpiresIsNotCountedByThoseThatRun() throws Exception {
    try (OwnBroker broker = OwnBroker.thatDeletesSoon()) {
      LiveBench bench = LiveBench.at(broker.bootstrap());
      String topic = bench.topics().nodes();
      String group = bench.topics().prefix();
      ofThePast(broker, topic);
      try (KafkaProducer<byte[], byte[]> producer = producer(bench)) {
        Node dead =
            Node.newBuilder()
                .setNode("dead:1")
                .setUrl("http://dead:1")
                .setGroup(group)
                .setRoles(List.of())
                .build();
        new Past(producer, topic)
            .say(
                NodeTable.key(group, "dead:1"),
                ConfluentFrame.encode(dead),
                System.currentTimeMillis() - 2 * KEPT);
      }
      MemberKey firstKey = MemberKey.fresh();
      MemberKey secondKey = MemberKey.fresh();
      try (QuerySeat _ = seat(bench, firstKey);
          NodeFeed first = member(bench, firstKey)) {
        first.start("first:1", URI.create("http://first:1"));
        WAITS.await("it runs alone", () -> names(first).equals("first:1"));
        expire(broker, bench, topic);
        try (QuerySeat _ = seat(bench, secondKey);
            NodeFeed second = member(bench, secondKey)) {
          second.start("second:1", URI.create("http://second:1"));
          WAITS.await("two run", () -> names(second).equals("first:1 second:1"));
          WAITS.await("two run", () -> names(first).equals("first:1 second:1"));
        }
        WAITS.await("one has left", () -> names(first).equals("first:1"));
        assertThat(NodeRecords.running(bench.kafka(), bench.topics(), group))
            .extracting(Node::getNode)
            .containsExactly("first:1");
      }
    }
  }

  private static NodeFeed member(LiveBench bench, MemberKey key) {
    return new NodeFeed(
        bench.kafka(), bench.topics(), bench.topics().prefix(), EnumSet.allOf(Role.class), key);
  }

  private static QuerySeat seat(LiveBench bench, MemberKey key) {
    QuerySeat seat =
        new QuerySeat(
            bench.kafka().named(key.clientId()), bench.topics().nodes(), bench.topics().prefix());
    seat.start();
    return seat;
  }

  private static String names(NodeFeed feed) {
    return feed.running().stream().map(Node::getNode).sorted().collect(Collectors.joining(" "));
  }
}
