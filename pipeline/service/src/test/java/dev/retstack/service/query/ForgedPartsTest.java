package dev.retstack.service.query;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.top.StateTotals;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineService;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.GroupRoll;
import dev.retstack.service.identity.Handshake;
import dev.retstack.service.identity.MemberKey;
import dev.retstack.service.identity.SignedNode;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.nodes.NodeTable;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Waits;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One who really is in the consumer group, proves its key and signs what it says, and took over no
 * partition: it says that partitions have no records.
 */
class ForgedPartsTest {
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> QUESTIONS =
      List.of(
          "/report?sessions=sum",
          "/top",
          "/cores",
          "/completeness",
          "/anomalies",
          "/graph",
          "/stats",
          "/sessions",
          "/edges?sessions=sum",
          "/calls/open");

  @ParameterizedTest
  @EnumSource(GroupProtocol.class)
  void aPartOfWhomKafkaHasNoCommitIsMissing(GroupProtocol protocol) throws Exception {
    LiveBench bench = LiveBench.fresh(LiveBench.PARTITIONS, 12, protocol);
    bench.produceAll();
    try (Pipeline real = PipelineService.start(bench.config());
        HttpAsk ask = new HttpAsk(real.httpUri())) {
      bench.awaitEnded(real);
      bench.awaitRest(real);
      final long whole = records(ask);
      final Map<Integer, Long> epochs = epochs(ask);
      assertThat(epochs).hasSize(LiveBench.PARTITIONS);
      try (Liar liar = new Liar(bench, bench.config().groupId(), bench.topics().events())) {
        WAITS.await("the group gives it some", () -> !liar.given().isEmpty());
        WAITS.await("they are missing", () -> missing(ask).equals(liar.given()));
        int given = liar.given().iterator().next();
        long committed = epochs.get(given);
        for (long epoch :
            List.of(1L << 62, Long.MAX_VALUE, committed + 1, committed, committed - 1, 0L, -1L)) {
          liar.epoch = epoch;
          liar.asked.set(0);
          assertThat(missing(ask)).as("epoch %d", epoch).isEqualTo(liar.given());
          JsonNode report = JSON.readTree(ask.get("/report?format=json&sessions=sum").body());
          assertThat(report.path("records").asLong()).as("epoch %d", epoch).isBetween(1L, whole);
          assertThat(report.path("completeness").asDouble()).isLessThan(100);
          for (String question : QUESTIONS) {
            assertThat(
                    ask.get(question + (question.contains("?") ? "&" : "?") + "format=text").body())
                .as("%s at epoch %d", question, epoch)
                .contains("partition %d is missing: %s".formatted(given, liar.name()))
                .doesNotContain("100 % complete");
          }
          assertThat(liar.asked.get()).as("it was asked, and answered").isPositive();
        }
      }
      WAITS.await("all are there again", () -> missing(ask).isEmpty() && records(ask) == whole);
    }
  }

  /** One beside the group has no partition at all, whether the owner answers or not. */
  @Test
  void whoTakesNoPartitionsIsNotBelievedWhereTheOwnerIsGone() throws Exception {
    LiveBench bench = LiveBench.fresh();
    bench.produceAll();
    String beside = GroupRoll.beside(bench.config().groupId());
    try (Pipeline asked =
            PipelineService.start(bench.config().but().roles(EnumSet.of(Role.QUERY)).build());
        HttpAsk ask = new HttpAsk(asked.httpUri());
        Liar liar = new Liar(bench, beside, bench.topics().nodes())) {
      Set<Integer> all = Set.of(0, 1, 2);
      try (Pipeline owner = PipelineService.start(bench.config())) {
        bench.awaitEnded(owner);
        WAITS.await("all are there", () -> missing(ask).isEmpty() && records(ask) > 0);
        WAITS.await("it is asked", () -> missing(ask).isEmpty() && liar.asked.get() > 0);
        liar.epoch = epochs(ask).get(0);
        assertThat(missing(ask)).isEmpty();
        WAITS.await(owner.stop());
      }
      assertThat(missing(ask)).isEqualTo(all);
      assertThat(ask.get("/report?format=text").body()).doesNotContain("100 % complete");
    }
  }

  private static long records(HttpAsk ask) throws Exception {
    return JSON.readTree(ask.get("/report?format=json&sessions=sum").body())
        .path("records")
        .asLong();
  }

  private static JsonNode parts(HttpAsk ask) throws Exception {
    return JSON.readTree(ask.get("/report?format=json&sessions=sum").body()).path("parts");
  }

  private static Set<Integer> missing(HttpAsk ask) throws Exception {
    Set<Integer> missing = new TreeSet<>();
    for (JsonNode part : parts(ask)) {
      if (part.has("missing")) {
        missing.add(part.path("partition").asInt());
      }
    }
    return missing;
  }

  private static Map<Integer, Long> epochs(HttpAsk ask) throws Exception {
    Map<Integer, Long> epochs = new HashMap<>();
    for (JsonNode part : parts(ask)) {
      epochs.put(part.path("partition").asInt(), part.path("epoch").asLong());
    }
    return epochs;
  }

  /** Has a key that Kafka names, and says of each partition that it has nothing of it. */
  private static final class Liar implements AutoCloseable {
    private final MemberKey key = MemberKey.fresh();
    private final AtomicInteger asked = new AtomicInteger();
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final HttpServer http;
    private final Node node;
    private final LiveBench bench;
    private final Thread thread;
    private volatile long epoch = 1L << 62;
    private volatile boolean closed;
    private volatile Set<Integer> given = Set.of();

    Liar(LiveBench bench, String group, String topic) throws IOException {
      this.bench = bench;
      http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      http.createContext("/", this::answer);
      http.start();
      String at = "127.0.0.1:" + http.getAddress().getPort();
      node =
          SignedNode.of(
              Node.newBuilder()
                  .setNode(at)
                  .setUrl("http://" + at)
                  .setGroup(bench.config().groupId())
                  .setRoles(List.of(Role.INGEST.word(), Role.QUERY.word()))
                  .build(),
              key);
      Map<String, Object> config = bench.kafka().named(key.clientId()).member();
      config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
      consumer =
          new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
      consumer.subscribe(List.of(topic));
      thread = Thread.ofPlatform().start(this::run);
    }

    String name() {
      return node.getNode();
    }

    Set<Integer> given() {
      return given;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // sent again until it is believed or refused
    private void run() {
      byte[] at = NodeTable.key(node.getGroup(), node.getNode()).getBytes(UTF_8);
      try (consumer;
          var producer =
              new KafkaProducer<>(
                  bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
        while (!closed) {
          producer.send(
              new ProducerRecord<>(bench.topics().nodes(), at, ConfluentFrame.encode(node)));
          consumer.poll(Duration.ofMillis(200));
          given =
              consumer.assignment().stream()
                  .map(TopicPartition::partition)
                  .collect(Collectors.toCollection(TreeSet::new));
        }
      }
    }

    private void answer(HttpExchange exchange) throws IOException {
      String question = exchange.getRequestURI().toString();
      String challenge = exchange.getRequestHeaders().getFirst(Handshake.CHALLENGE);
      boolean isParts = question.startsWith("/parts/own");
      byte[] body = isParts ? parts(challenge, question) : "{}".getBytes(UTF_8);
      exchange
          .getResponseHeaders()
          .add(Handshake.PROOF, Handshake.proof(key, challenge, node.getUrl()));
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
      if (isParts) {
        asked.incrementAndGet();
      }
    }

    private byte[] parts(String challenge, String question) throws IOException {
      var writer =
          new PartStream.Writer(
              new AnswerSeal(challenge, node.getUrl(), question), seal -> seal.sign(key));
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.write(writer.head());
      for (int p = 0; p < LiveBench.PARTITIONS; p++) {
        for (byte[] bytes : writer.part(nothing(p, question))) {
          all.write(bytes);
        }
      }
      for (byte[] bytes : writer.end()) {
        all.write(bytes);
      }
      return all.toByteArray();
    }

    private Part nothing(int partition, String question) throws IOException {
      GraphState state = new GraphState();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      if (question.contains("what=state")) {
        bytes.writeBytes(state.copy());
      } else if (question.contains("what=totals")) {
        StateTotals.of(state).writeTo(new DataOutputStream(bytes));
      } else {
        bytes.writeBytes(new byte[64]);
      }
      return Part.of(
          new StateCopy(
              partition,
              epoch,
              1L << 40,
              1L << 40,
              0,
              StateCopy.Waiting.NONE,
              bytes.toByteArray(),
              GraphLimits.DEFAULT));
    }

    @Override
    public void close() {
      closed = true;
      try {
        thread.join(Duration.ofSeconds(20));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      http.stop(0);
    }
  }
}
