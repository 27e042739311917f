package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.identity.MemberKey;
import dev.retstack.service.identity.SignedNode;
import dev.retstack.service.nodes.NodeRecords;
import dev.retstack.service.nodes.NodeTable;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A producer announces members that are none, at an address where it answers itself. */
class ForgedNodesTest {
  private static final String SECRET = "a-token-that-nobody-else-has";
  private static final Waits WAITS = new Waits(Duration.ofMinutes(1));
  private static final int CORES = 5; // of a bench
  private static final ObjectMapper JSON = new ObjectMapper();

  private final LiveBench bench = LiveBench.fresh();
  private final Set<String> heard = new ConcurrentSkipListSet<>();
  private final ConcurrentLinkedQueue<String> secrets = new ConcurrentLinkedQueue<>();
  private HttpServer forger;
  private String url;

  @TempDir Path folder;

  @BeforeEach
  void forge() throws IOException {
    forger = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    forger.createContext("/", this::answer);
    forger.start();
    url = "http://127.0.0.1:" + forger.getAddress().getPort();
  }

  @AfterEach
  void stop() {
    forger.stop(0);
  }

  private void answer(HttpExchange asked) throws IOException {
    heard.add(asked.getRequestURI().getPath());
    List<String> shown = asked.getRequestHeaders().get("Authorization");
    if (shown != null) {
      secrets.addAll(shown);
    }
    byte[] body =
        asked.getRequestURI().getPath().equals("/parts/own") ? parts() : "forged".getBytes(UTF_8);
    asked.getResponseHeaders().add("Retstack-Proof", "forged");
    asked.sendResponseHeaders(200, body.length);
    asked.getResponseBody().write(body);
    asked.close();
  }

  /** Of each partition one without cores, of an epoch that no member reaches. */
  private static byte[] parts() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(0x5253_5054);
      out.writeByte(1);
      for (int p = 0; p < LiveBench.PARTITIONS; p++) {
        out.writeInt(p);
        out.writeLong(1L << 62);
        out.writeLong(1L << 40);
        out.writeLong(0);
        out.writeLong(0);
        out.writeInt(0);
        out.writeUTF("");
        out.writeUTF("");
        out.writeInt(0);
      }
      out.writeInt(-1);
    }
    return bytes.toByteArray();
  }

  @Test
  void aNodeThatKafkaDoesNotNameIsNeitherAskedNorBelieved() throws Exception {
    bench.produceAll();
    Path file = Files.writeString(folder.resolve("token"), SECRET);
    HttpToken token = HttpToken.read(file);
    PipelineConfig config =
        bench.config().but().http(HttpSettings.LOCAL.at("127.0.0.1", 0).token(token)).build();
    try (Pipeline one = PipelineService.start(config);
        Pipeline two = PipelineService.start(config)) {
      LiveAccess access = new LiveAccess(Optional.of(token), Optional.empty());
      awaitWhole(one, access);
      awaitWhole(two, access);
      List<Node> real = running();
      announce(real);
      assertThat(running()).containsExactlyInAnyOrderElementsOf(real);
      Set<String> before = Set.copyOf(hashes(one, two, access));
      assertThat(before).hasSize(1);
      // long enough for each member to hear of them and to look at those that it believes
      WAITS.await("members say again that they run", () -> announcements() > 2L * real.size());
      assertThat(Set.copyOf(hashes(one, two, access))).isEqualTo(before);
      assertThat(heard).as("asked at the forged address").isEmpty();
      assertThat(secrets).isEmpty();
      for (Node node : running()) { // as the command does
        try (LiveClient client = new LiveClient(node, access)) {
          assertThat(records(client)).isPositive();
        }
      }
    }
  }

  /** The port of a member that died, or a record that was believed once. */
  @Test
  void whoDoesNotProveItselfHearsNoSecretAndIsNotBelieved() throws Exception {
    Path file = Files.writeString(folder.resolve("token"), SECRET);
    LiveAccess access = new LiveAccess(Optional.of(HttpToken.read(file)), Optional.empty());
    Node node = SignedNode.of(node("dead", url), MemberKey.fresh());
    try (LiveClient client = new LiveClient(node, access)) {
      assertThatThrownBy(() -> client.get("report", Map.of()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("does not prove that it is the member");
    }
    assertThat(heard).containsExactly("/health/live");
    assertThat(secrets).isEmpty();
  }

  /** One who answers questions and takes no partitions is a member as well. */
  @Test
  void aMemberWithoutPartitionsIsNamedByKafkaToo() throws Exception {
    bench.produceAll();
    try (Pipeline takes =
            PipelineService.start(bench.config().but().roles(EnumSet.of(Role.INGEST)).build());
        Pipeline answers =
            PipelineService.start(bench.config().but().roles(EnumSet.of(Role.QUERY)).build())) {
      awaitWhole(answers, LiveAccess.OPEN);
      WAITS.await("both", () -> running().size() == 2);
      Node node =
          running().stream()
              .filter(one -> one.getUrl().equals(answers.httpUri().toString()))
              .findFirst()
              .orElseThrow();
      try (LiveClient client = new LiveClient(node, LiveAccess.OPEN)) {
        assertThat(records(client)).isPositive();
      }
      assertThat(takes.httpUri()).isNotEqualTo(answers.httpUri());
    }
  }

  private void announce(List<Node> real) throws Exception {
    Node victim = real.getFirst();
    Node elsewhere = Node.newBuilder(victim).setUrl(url).build();
    MemberKey own = MemberKey.fresh();
    Map<String, Node> forged =
        Map.of(
            "no signature", node("forged", url),
            "the signature of another address", elsewhere,
            "a key that Kafka does not name", SignedNode.of(node("own", url), own),
            "the same under a member's name", SignedNode.of(node(victim.getNode(), url), own),
            "no address", SignedNode.of(node("odd", "%s%n"), own));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (Node node : forged.values()) {
        send(producer, NodeTable.key(node.getGroup(), node.getNode()), node);
        send(producer, NodeTable.key(node.getGroup(), victim.getNode()), node);
      }
      for (Node node : real) {
        send(producer, NodeTable.key(node.getGroup(), node.getNode()), null);
      }
    }
  }

  private void send(KafkaProducer<byte[], byte[]> producer, String key, Node node)
      throws Exception {
    byte[] value = node == null ? null : ConfluentFrame.encode(node);
    producer.send(new ProducerRecord<>(bench.topics().nodes(), key.getBytes(UTF_8), value)).get();
  }

  private Node node(String name, String address) {
    return Node.newBuilder()
        .setNode(name)
        .setUrl(address)
        .setGroup(bench.config().groupId())
        .setRoles(List.of(Role.INGEST.word(), Role.QUERY.word()))
        .build();
  }

  private List<Node> running() throws IOException {
    return NodeRecords.running(bench.kafka(), bench.topics(), bench.config().groupId());
  }

  private long announcements() {
    return TopicReader.records(bench.kafka(), bench.topics().nodes()).stream()
        .dropWhile(record -> record.value() != null)
        .filter(record -> record.value() != null)
        .count();
  }

  private static void awaitWhole(Pipeline pipeline, LiveAccess access) throws Exception {
    try (LiveClient client = new LiveClient(pipeline.httpUri(), access)) {
      WAITS.await(
          "all partitions",
          () -> {
            LiveClient.Reply reply = client.ask("cores", Map.of("format", "json"));
            JsonNode cores = JSON.readTree(reply.body()).path("cores");
            boolean ended = cores.size() == CORES;
            for (JsonNode core : cores) {
              ended &= !core.path("end").asText().equals("RUNNING");
            }
            return reply.missing().isEmpty() && ended;
          });
    }
  }

  private static List<String> hashes(Pipeline one, Pipeline two, LiveAccess access)
      throws Exception {
    List<String> found = new ArrayList<>();
    for (Pipeline pipeline : List.of(one, two)) {
      try (LiveClient client = new LiveClient(pipeline.httpUri(), access)) {
        JsonNode report = JSON.readTree(client.get("report", Map.of("format", "json")));
        found.add(report.path("resultHash").asText());
        assertThat(report.path("records").asLong()).isPositive();
      }
    }
    return found;
  }

  private static long records(LiveClient client) throws Exception {
    return JSON.readTree(client.get("report", Map.of("format", "json"))).path("records").asLong();
  }
}
