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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/** A real KRaft broker in the tests' own JVM, one for the whole module run. */
public final class TestBroker {
  private static TestBroker running;
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final KafkaRaftServer server;
  private final Path dir;
  private final String bootstrap;

  private TestBroker() throws Exception {
    dir = Files.createTempDirectory("retstack-broker");
    int port = freePort();
    bootstrap = "127.0.0.1:" + port;
    format();
    server = new KafkaRaftServer(KafkaConfig.apply(config(port, freePort()), false), Time.SYSTEM);
    server.startup();
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "test-broker-stop"));
  }

  /** The address of the broker, which is started by the first who asks. */
  public static synchronized String bootstrap() throws Exception {
    if (running == null) {
      running = new TestBroker();
    }
    return running.bootstrap;
  }

  /** A prefix for topics and groups that no other test uses. */
  public static String freshPrefix() {
    return "t" + NAMES.incrementAndGet();
  }

  private void format() throws Exception {
    new Formatter()
        .setPrintStream(new PrintStream(OutputStream.nullOutputStream()))
        .setNodeId(1)
        .setClusterId(Uuid.randomUuid().toString())
        .setDirectories(List.of(dir.toString()))
        .setMetadataLogDirectory(dir.toString())
        .setControllerListenerName("CONTROLLER")
        .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
        .run();
  }

  private Map<String, String> config(int port, int controller) {
    Map<String, String> config = new LinkedHashMap<>();
    config.put("process.roles", "broker,controller");
    config.put("node.id", "1");
    config.put("controller.quorum.voters", "1@127.0.0.1:" + controller);
    config.put("controller.listener.names", "CONTROLLER");
    config.put(
        "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller);
    config.put("advertised.listeners", "PLAINTEXT://" + bootstrap);
    config.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    config.put("log.dirs", dir.toString());
    config.put("offsets.topic.replication.factor", "1");
    config.put("offsets.topic.num.partitions", "1");
    config.put("transaction.state.log.replication.factor", "1");
    config.put("transaction.state.log.num.partitions", "1");
    config.put("transaction.state.log.min.isr", "1");
    config.put("share.coordinator.state.topic.replication.factor", "1");
    config.put("share.coordinator.state.topic.num.partitions", "1");
    config.put("share.coordinator.state.topic.min.isr", "1");
    config.put("group.initial.rebalance.delay.ms", "0");
    // members of KIP-848 groups hear of moves with their heartbeats
    config.put("group.consumer.min.heartbeat.interval.ms", "200");
    config.put("group.consumer.heartbeat.interval.ms", "200");
    config.put("group.consumer.min.session.timeout.ms", "6000");
    config.put("auto.create.topics.enable", "false");
    config.put("message.max.bytes", String.valueOf(4 << 20));
    config.put("log.cleaner.dedupe.buffer.size", String.valueOf(4 << 20));
    return config;
  }

  private void stop() {
    server.shutdown();
    server.awaitShutdown();
    try (Stream<Path> files = Files.walk(dir)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException _) {
      // a folder left in the temporary directory does no harm
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
