package dev.retstack.cli.broker;

import dev.retstack.cli.FileTrouble;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * One Kafka node inside this JVM, broker and controller at once, reachable on loopback only. Its
 * data stay in the folder: a broker started there again serves what the last one held.
 *
 * <p>Tests use it as it is. The command runs it as a child ({@link BrokerProcess}), so that its
 * crashes and collections stay apart from the pipeline's.
 */
public final class EmbeddedBroker implements AutoCloseable {
  private static final String FORMATTED = "meta.properties";

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
      lock.tell(broker.bootstrap);
      return broker;
    } catch (RuntimeException | Error | IOException e) {
      lock.close();
      throw e instanceof BrokerException known ? known : notStarted(data, e);
    }
  }

  private static EmbeddedBroker start(
      Path data, FolderLock lock, int port, Map<String, String> more, List<String> scram)
      throws BrokerException {
    int listenPort = claim(port);
    format(data, scram);
    try {
      Map<String, String> settings = BrokerSettings.of(data, listenPort, claim(0));
      settings.putAll(more);
      KafkaConfig config = KafkaConfig.apply(settings, /* doLog= */ false);
      KafkaRaftServer server = new KafkaRaftServer(config, Time.SYSTEM);
      server.startup();
      return new EmbeddedBroker(server, BrokerSettings.HOST + ":" + listenPort, lock);
    } catch (RuntimeException e) {
      throw notStarted(data, e);
    }
  }

  private static BrokerException notStarted(Path data, Throwable e) {
    return new BrokerException(
        "kafka cannot start on %s: %s; its log beside it says more, or choose another folder with --dir"
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

  /** The port itself where it is free, any free one for 0. */
  private static int claim(int port) throws BrokerException {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new BrokerException(
          "port "
              + port
              + " is taken ("
              + e.getMessage()
              + "): choose another with --port, or 0 for any free one",
          e);
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
          .setNodeId(BrokerSettings.NODE_ID)
          .setClusterId(Uuid.randomUuid().toString())
          .setDirectories(List.of(data.toString()))
          .setMetadataLogDirectory(data.toString())
          .setControllerListenerName(BrokerSettings.CONTROLLER_LISTENER)
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
