package dev.retstack.service.support;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/** A real KRaft node in the tests' own JVM, with a folder of its own; the first is controller. */
final class TestNode {
  private static final Path MEMORY = Path.of("/dev/shm");

  /** Many times what all tests of a run write. */
  private static final long MEMORY_BYTES = 4L << 30;

  private final KafkaRaftServer server;
  private final Path dir;
  private final String bootstrap;

  private TestNode(KafkaRaftServer server, Path dir, String bootstrap) {
    this.server = server;
    this.dir = dir;
    this.bootstrap = bootstrap;
  }

  /** Which cluster nodes belong to, and where its controller listens. */
  record Cluster(String id, int controllerPort) {
    static Cluster fresh() throws IOException {
      return new Cluster(Uuid.randomUuid().toString(), freePort(0));
    }
  }

  /**
   * Starts a node, and returns when it serves.
   *
   * @param id 1 is the controller as well
   * @param replicas of each record of the broker's own topics
   * @param more settings that win
   */
  static TestNode start(Cluster cluster, int id, int replicas, Map<String, String> more)
      throws Exception {
    Path dir = folder();
    new Formatter()
        .setPrintStream(new PrintStream(OutputStream.nullOutputStream()))
        .setNodeId(id)
        .setClusterId(cluster.id())
        .setDirectories(List.of(dir.toString()))
        .setMetadataLogDirectory(dir.toString())
        .setControllerListenerName("CONTROLLER")
        .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
        .run();
    String bootstrap = "127.0.0.1:" + freePort(cluster.controllerPort());
    Map<String, String> config = config(cluster, id, bootstrap, dir, replicas);
    config.putAll(more);
    KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.apply(config, false), Time.SYSTEM);
    server.startup();
    return new TestNode(server, dir, bootstrap);
  }

  /**
   * In memory where there is room: each of the many small segments costs a disk milliseconds, and
   * nothing here outlives the test.
   */
  private static Path folder() throws IOException {
    boolean isRoomy =
        Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() > MEMORY_BYTES;
    return isRoomy
        ? Files.createTempDirectory(MEMORY, "retstack-broker")
        : Files.createTempDirectory("retstack-broker");
  }

  private static Map<String, String> config(
      Cluster cluster, int id, String bootstrap, Path dir, int replicas) {
    boolean controls = id == 1;
    String controller = "CONTROLLER://127.0.0.1:" + cluster.controllerPort();
    Map<String, String> config = new LinkedHashMap<>();
    config.put("process.roles", controls ? "broker,controller" : "broker");
    config.put("node.id", String.valueOf(id));
    config.put("controller.quorum.voters", "1@127.0.0.1:" + cluster.controllerPort());
    config.put("controller.listener.names", "CONTROLLER");
    config.put("listeners", "PLAINTEXT://" + bootstrap + (controls ? "," + controller : ""));
    config.put("advertised.listeners", "PLAINTEXT://" + bootstrap);
    config.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    config.put("log.dirs", dir.toString());
    for (String topic :
        List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
      config.put(topic + ".replication.factor", String.valueOf(replicas));
      config.put(topic + ".num.partitions", "1");
    }
    config.put("transaction.state.log.min.isr", "1");
    config.put("share.coordinator.state.topic.min.isr", "1");
    config.put("group.initial.rebalance.delay.ms", "0");
    // members of KIP-848 groups hear of moves with their heartbeats
    config.put("group.consumer.min.heartbeat.interval.ms", "200");
    config.put("group.consumer.heartbeat.interval.ms", "200");
    config.put("group.consumer.min.session.timeout.ms", "6000");
    config.put("auto.create.topics.enable", "false");
    config.put("message.max.bytes", String.valueOf(4 << 20));
    config.put("log.cleaner.dedupe.buffer.size", String.valueOf(2 << 20));
    config.put("log.cleaner.backoff.ms", "1000"); // the state is compacted while tests run
    return config;
  }

  /** {@code host:port} for clients. */
  String bootstrap() {
    return bootstrap;
  }

  /** Stops it in order, and deletes what it had. */
  void stop() {
    server.shutdown();
    server.awaitShutdown();
    try (Stream<Path> files = Files.walk(dir)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException _) {
      // a folder left in the temporary directory does no harm
    }
  }

  /** A free port but this one, where nobody may listen yet. */
  private static int freePort(int taken) throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = socket.getLocalPort();
      return port == taken ? freePort(taken) : port;
    }
  }
}
