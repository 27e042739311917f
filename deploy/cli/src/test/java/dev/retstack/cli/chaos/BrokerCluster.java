package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Three Kafka brokers on loopback, each a process of its own and one of the three controllers.
 * Kafka's own topics have three replicas, of which two must have a record before it counts; a topic
 * that says nothing has one. Ports and data stay when a broker dies and is started again. Times are
 * Kafka's own defaults, as in the compose file.
 */
final class BrokerCluster implements AutoCloseable {
  static final int BROKERS = 3;

  /** When a dead member of a group of the newer protocol (KIP-848) is noticed. */
  static final int SESSION_MILLIS = 12_000;

  private static final String CLUSTER = "cmV0c3RhY2stY2hhb3MwMQ";
  private static final int HEAP_MIB = 256;
  private static final Duration SERVES = Duration.ofMinutes(4);
  private static final int STOPS_SECONDS = 60;

  private final Processes processes;
  private final List<Node> nodes = new ArrayList<>();

  /** One broker: where it lives, and its process while it has one. */
  private static final class Node {
    final int id;
    final Path data;
    final Path log;
    final Path settings;
    final int port;
    final int controllerPort;
    Process process;

    Node(int id, Path data, Path folder, int port, int controllerPort) {
      this.id = id;
      this.data = data;
      this.log = folder.resolve("broker-" + id + ".log");
      this.settings = folder.resolve("broker-" + id + ".properties");
      this.port = port;
      this.controllerPort = controllerPort;
    }
  }

  /**
   * Starts all brokers; returns when they serve.
   *
   * @param folder for logs, and for data
   * @param data folders of single brokers' data, by number from 1, where they are elsewhere
   */
  BrokerCluster(Processes processes, Path folder, Map<Integer, Path> data) throws Exception {
    this.processes = processes;
    for (int id = 1; id <= BROKERS; id++) {
      Path own = data.getOrDefault(id, folder.resolve("broker-" + id));
      nodes.add(new Node(id, own, folder, processes.freePort(), processes.freePort()));
    }
    Path logback = writeLogback(folder);
    for (Node node : nodes) {
      Files.createDirectories(node.data);
      format(node);
      writeSettings(node);
    }
    for (Node node : nodes) {
      launch(node, logback, Map.of());
    }
    awaitAll();
  }

  /** All brokers' addresses, for clients. */
  String bootstrap() {
    return nodes.stream().map(node -> "127.0.0.1:" + node.port).collect(Collectors.joining(","));
  }

  /** {@code kill -9}; returns when it is dead. */
  void kill(int id) {
    Processes.kill(node(id).process);
  }

  /** Stops in order: it hands its leaderships over first. */
  void stop(int id) throws Exception {
    node(id).process.toHandle().destroy();
    Processes.awaitEnd(node(id).process, STOPS_SECONDS);
  }

  /** Starts it again where it died; does not wait until it serves. */
  void start(int id) throws IOException {
    start(id, Map.of());
  }

  /** The same, with more in its environment. */
  void start(int id, Map<String, String> environment) throws IOException {
    launch(node(id), node(id).settings.resolveSibling("logback.xml"), environment);
  }

  boolean isAlive(int id) {
    return node(id).process.isAlive();
  }

  /** What a broker had to say, from its first start on. */
  Path log(int id) {
    return node(id).log;
  }

  /** Where a broker's data are. */
  Path data(int id) {
    return node(id).data;
  }

  /** Returns when each broker serves and has every replica that it should have. */
  void awaitAll() throws Exception {
    long deadline = System.nanoTime() + SERVES.toNanos();
    for (Node node : nodes) {
      awaitPort(node, deadline);
    }
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      String missing = "nothing answers";
      while (!missing.isEmpty()) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError(
              "the brokers are not in step after %s: %s".formatted(SERVES, missing));
        }
        try {
          missing = missing(admin);
        } catch (ExecutionException | TimeoutException e) {
          missing = String.valueOf(e.getMessage());
        }
      }
    }
  }

  /** Has each partition led by the broker that should lead it. */
  void leadAsPreferred() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      admin.electLeaders(ElectionType.PREFERRED, null).partitions().get(30, TimeUnit.SECONDS);
    }
  }

  /** Topics with this prefix that fewer than three brokers hold, or that one may acknowledge. */
  List<String> unsafeTopics(String prefix) throws Exception {
    List<String> found = new ArrayList<>();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      List<String> names =
          admin.listTopics().names().get(20, TimeUnit.SECONDS).stream()
              .filter(name -> name.startsWith(prefix + "."))
              .toList();
      for (TopicDescription topic :
          admin.describeTopics(names).allTopicNames().get(20, TimeUnit.SECONDS).values()) {
        ConfigResource key = new ConfigResource(ConfigResource.Type.TOPIC, topic.name());
        Config config =
            admin.describeConfigs(List.of(key)).all().get(20, TimeUnit.SECONDS).get(key);
        boolean held = topic.partitions().stream().allMatch(p -> p.replicas().size() == BROKERS);
        if (!held || !config.get("min.insync.replicas").value().equals("2")) {
          found.add(topic.toString());
        }
      }
    }
    return found;
  }

  private static String missing(Admin admin) throws Exception {
    int brokers = admin.describeCluster().nodes().get(5, TimeUnit.SECONDS).size();
    if (brokers < BROKERS) {
      return "%d of %d brokers".formatted(brokers, BROKERS);
    }
    var names = admin.listTopics().names().get(5, TimeUnit.SECONDS);
    for (TopicDescription topic :
        admin.describeTopics(names).allTopicNames().get(5, TimeUnit.SECONDS).values()) {
      for (var partition : topic.partitions()) {
        if (partition.isr().size() < BROKERS) {
          return "%s-%d has %s".formatted(topic.name(), partition.partition(), partition.isr());
        }
      }
    }
    return "";
  }

  private static void awaitPort(Node node, long deadline) throws Exception {
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), node.port), 200);
        return;
      } catch (IOException e) {
        if (node.process.waitFor(50, TimeUnit.MILLISECONDS) || System.nanoTime() > deadline) {
          throw new AssertionError(
              "broker %d does not serve: see %s".formatted(node.id, node.log), e);
        }
      }
    }
  }

  private void launch(Node node, Path logback, Map<String, String> environment) throws IOException {
    List<String> command = Processes.java(HEAP_MIB);
    command.add(1, "-Dlogback.configurationFile=" + logback);
    command.addAll(List.of("kafka.Kafka", node.settings.toString()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(node.log.toFile()));
    builder.environment().putAll(environment);
    node.process = processes.start(builder);
  }

  private static Path writeLogback(Path folder) throws IOException {
    return Files.writeString(
        Files.createDirectories(folder).resolve("logback.xml"),
        """
        <configuration>
          <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
            <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{24} - %msg%n</pattern></encoder>
          </appender>
          <root level="WARN"><appender-ref ref="out"/></root>
        </configuration>
        """);
  }

  private static void format(Node node) throws Exception {
    new Formatter()
        .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8))
        .setNodeId(node.id)
        .setClusterId(CLUSTER)
        .setDirectories(List.of(node.data.toString()))
        .setMetadataLogDirectory(node.data.toString())
        .setControllerListenerName("CONTROLLER")
        .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
        .setHasDynamicQuorum(false)
        .run();
  }

  private void writeSettings(Node node) throws IOException {
    String voters =
        nodes.stream()
            .map(one -> "%d@127.0.0.1:%d".formatted(one.id, one.controllerPort))
            .collect(Collectors.joining(","));
    Files.writeString(
        node.settings,
        """
        process.roles=broker,controller
        node.id=%d
        controller.quorum.voters=%s
        controller.listener.names=CONTROLLER
        inter.broker.listener.name=PLAINTEXT
        listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d
        advertised.listeners=PLAINTEXT://127.0.0.1:%d
        listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
        log.dirs=%s
        offsets.topic.replication.factor=3
        transaction.state.log.replication.factor=3
        transaction.state.log.min.isr=2
        share.coordinator.state.topic.replication.factor=3
        share.coordinator.state.topic.min.isr=2
        auto.create.topics.enable=false
        message.max.bytes=8388608
        replica.fetch.max.bytes=8388608
        # as short as there is time between two heartbeats, which are Kafka's own
        group.consumer.session.timeout.ms=%d
        group.consumer.min.session.timeout.ms=%d
        # for a small machine: fewer partitions, threads and buffers than usual
        offsets.topic.num.partitions=3
        transaction.state.log.num.partitions=3
        num.network.threads=2
        num.io.threads=4
        log.cleaner.dedupe.buffer.size=4194304
        # the state is compacted while members read and write it
        log.cleaner.backoff.ms=1000
        """
            .formatted(
                node.id,
                voters,
                node.port,
                node.controllerPort,
                node.port,
                node.data,
                SESSION_MILLIS,
                SESSION_MILLIS));
  }

  private Node node(int id) {
    return nodes.get(id - 1);
  }

  /** Numbers of all brokers. */
  static List<Integer> ids() {
    return IntStream.rangeClosed(1, BROKERS).boxed().toList();
  }

  /** By force: the data are of no use any more. */
  @Override
  public void close() {
    for (Node node : nodes) {
      Processes.kill(node.process);
    }
  }
}
