package dev.retstack.cli.broker;

import dev.retstack.cli.command.FileTrouble;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * One Kafka node inside this JVM: broker and controller in one, reachable on loopback only. Its
 * data stays in the folder. A broker that is started there again serves it.
 *
 * <p>Tests use it directly. The command runs it as a child ({@link BrokerProcess}), so that its
 * crashes and garbage collections do not touch the pipeline.
 */
public final class EmbeddedBroker implements AutoCloseable {
  private static final String FORMATTED = "meta.properties";

  private static final int NODE_ID = 1;
  private static final String HOST = "127.0.0.1";
  private static final String CONTROLLER_LISTENER = "CONTROLLER";

  /** Largest Kafka record: well above the largest chunk. */
  private static final int MESSAGE_BYTES_MAX = 8 << 20;

  private final KafkaRaftServer server;
  private final String bootstrap;
  private final FolderLock lock;

  private EmbeddedBroker(KafkaRaftServer server, String bootstrap, FolderLock lock) {
    this.server = server;
    this.bootstrap = bootstrap;
    this.lock = lock;
  }

  /**
   * Starts a node and returns when it serves.
   *
   * @param dir made and formatted where it is new
   * @param port to listen on; 0 = any that is free
   * @throws BrokerException port taken, folder not writable or in use by another broker, or the
   *     folder holds something else
   */
  public static EmbeddedBroker start(Path dir, int port) throws BrokerException {
    return start(dir, port, Map.of(), List.of());
  }

  /**
   * Starts a node that differs from the usual one, such as one that asks for credentials.
   *
   * @param more Kafka settings that win over the usual ones
   * @param scram users of a new node, such as {@code SCRAM-SHA-256=[name=alice,password=...]}
   * @throws BrokerException as above
   */
  public static EmbeddedBroker start(
      Path dir, int port, Map<String, String> more, List<String> scram) throws BrokerException {
    Path data = dir.toAbsolutePath().resolve("kafka");
    makeWritable(data);
    FolderLock lock = FolderLock.take(dir);
    try {
      EmbeddedBroker broker = start(data, lock, port, more, scram);
      lock.writeAddress(broker.bootstrap);
      return broker;
    } catch (RuntimeException | Error | IOException e) {
      lock.close();
      throw e instanceof BrokerException known ? known : notStarted(data, e);
    }
  }

  private static EmbeddedBroker start(
      Path data, FolderLock lock, int port, Map<String, String> more, List<String> scram)
      throws BrokerException {
    Ports ports = Ports.claim(port);
    format(data, scram);
    try {
      Map<String, String> settings = settings(data, ports);
      settings.putAll(more);
      KafkaConfig config = KafkaConfig.apply(settings, /* doLog= */ false);
      KafkaRaftServer server = new KafkaRaftServer(config, Time.SYSTEM);
      server.startup();
      return new EmbeddedBroker(server, HOST + ":" + ports.clients(), lock);
    } catch (RuntimeException e) {
      throw notStarted(data, e);
    }
  }

  /** Kafka's settings for one node that is broker and controller at once, on loopback only. */
  private static Map<String, String> settings(Path logDir, Ports ports) {
    Map<String, String> settings = new HashMap<>();
    settings.put("process.roles", "broker,controller");
    settings.put("node.id", String.valueOf(NODE_ID));
    // static voters: the controller's port may be another one after a restart
    settings.put("controller.quorum.voters", NODE_ID + "@" + HOST + ":" + ports.controller());
    settings.put("controller.listener.names", CONTROLLER_LISTENER);
    settings.put(
        "listeners",
        "PLAINTEXT://%s:%d,%s://%s:%d"
            .formatted(HOST, ports.clients(), CONTROLLER_LISTENER, HOST, ports.controller()));
    settings.put("advertised.listeners", "PLAINTEXT://%s:%d".formatted(HOST, ports.clients()));
    settings.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    settings.put("inter.broker.listener.name", "PLAINTEXT");
    settings.put("log.dirs", logDir.toString());
    for (String topic :
        List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
      settings.put(topic + ".replication.factor", "1");
      settings.put(topic + ".num.partitions", "1");
    }
    settings.put("transaction.state.log.min.isr", "1");
    settings.put("share.coordinator.state.topic.min.isr", "1");
    settings.put("default.replication.factor", "1");
    settings.put("min.insync.replicas", "1");
    // a lone consumer need not wait for others to join
    settings.put("group.initial.rebalance.delay.ms", "0");
    // a misspelt topic is an error, not a new topic
    settings.put("auto.create.topics.enable", "false");
    settings.put("message.max.bytes", String.valueOf(MESSAGE_BYTES_MAX));
    settings.put("replica.fetch.max.bytes", String.valueOf(MESSAGE_BYTES_MAX));
    settings.put("num.network.threads", "2");
    settings.put("num.io.threads", "4");
    // the default of 128 MB is a quarter of the child's heap
    settings.put("log.cleaner.dedupe.buffer.size", String.valueOf(4 << 20));
    return settings;
  }

  private static BrokerException notStarted(Path data, Throwable e) {
    return new BrokerException(
        "kafka cannot start on %s: %s; see its log there, or choose another folder with --dir"
            .formatted(data, FileTrouble.words(e)),
        e);
  }

  /** {@code host:port} for clients. */
  public String bootstrap() {
    return bootstrap;
  }

  /** Stops in order: what was acknowledged is on disk. */
  @Override
  public void close() {
    server.shutdown();
    server.awaitShutdown();
    lock.close();
  }

  private static void makeWritable(Path data) throws BrokerException {
    try {
      Files.createDirectories(data);
      Files.delete(Files.createTempFile(data, "probe", ""));
    } catch (IOException e) {
      throw new BrokerException(
          FileTrouble.whyNotFolder("write to", data, e) + "; choose another folder with --dir", e);
    }
  }

  /** Where a node listens. Both ports are held at once, or a free one could be found twice. */
  private record Ports(int clients, int controller) {
    /** The port itself where it is free, any free one for 0. */
    static Ports claim(int port) throws BrokerException {
      try (ServerSocket clients = bound(port);
          ServerSocket controller = bound(0)) {
        return new Ports(clients.getLocalPort(), controller.getLocalPort());
      } catch (IOException e) {
        throw new BrokerException(
            "port %d is taken (%s): choose another with --port, or 0 for any free one"
                .formatted(port, e.getMessage()),
            e);
      }
    }

    private static ServerSocket bound(int port) throws IOException {
      ServerSocket socket = new ServerSocket();
      socket.setReuseAddress(true);
      try {
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      } catch (IOException e) {
        socket.close();
        throw e;
      }
      return socket;
    }
  }

  private static void format(Path data, List<String> scram) throws BrokerException {
    if (Files.exists(data.resolve(FORMATTED))) {
      return;
    }
    try {
      new Formatter()
          .setPrintStream(
              new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
          .setNodeId(NODE_ID)
          .setClusterId(Uuid.randomUuid().toString())
          .setDirectories(List.of(data.toString()))
          .setMetadataLogDirectory(data.toString())
          .setControllerListenerName(CONTROLLER_LISTENER)
          .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
          .setScramArguments(scram)
          .run();
    } catch (Exception e) { // Formatter.run declares Exception
      throw new BrokerException(
          "cannot format %s for kafka: %s; choose another folder with --dir"
              .formatted(data, FileTrouble.words(e)),
          e);
    }
  }
}
