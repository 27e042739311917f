package dev.retstack.cli.kafka;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Terminal;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import picocli.CommandLine.Option;

/**
 * Which Kafka cluster, and how to connect to it. Later sources win: {@code kafka.*} system
 * properties, the file of {@code --kafka-config}, {@code --kafka}, {@code --bootstrap}.
 */
public final class KafkaOptions {
  /** Environment variable with the cluster's address. */
  public static final String VARIABLE = "KAFKA_BOOTSTRAP_SERVERS";

  /** Where {@code retstack broker --port 9092} serves. */
  public static final String LOCAL = "127.0.0.1:9092";

  private static final String BOOTSTRAP = "bootstrap.servers";
  private static final String PROPERTY_PREFIX = "kafka.";

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT,...",
      description = "Kafka cluster. Also from " + VARIABLE + ".")
  private String bootstrap;

  @Option(
      names = "--prefix",
      defaultValue = "retstack",
      paramLabel = "NAME",
      description = "First part of all topic names (default: ${DEFAULT-VALUE}).")
  private String prefix;

  @Option(
      names = "--partitions",
      defaultValue = "" + KafkaLink.PARTITIONS,
      paramLabel = "N",
      description = "Partitions of each topic that is created (default: ${DEFAULT-VALUE}).")
  private int partitions;

  @Option(
      names = "--kafka",
      paramLabel = "KEY=VALUE",
      description = "A Kafka client setting, such as security.protocol=SSL; may be repeated.")
  private final Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--kafka-config",
      paramLabel = "FILE",
      description =
          "Properties file with Kafka client settings, for secrets that ps must not show.")
  private Path file;

  /** The cluster and the topics the user means. */
  public KafkaLink link(Terminal terminal) {
    return link(bootstrap(terminal), terminal);
  }

  /** A link to another cluster, with these settings and topics. */
  public KafkaLink link(String address, Terminal terminal) {
    return new KafkaLink(new KafkaSettings(address, security(terminal)), topics(), partitions);
  }

  private Topics topics() {
    try {
      return new Topics(prefix);
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  /**
   * Checks what makes no sense whatever the cluster is.
   *
   * @throws CommandException in one sentence
   */
  public void check() {
    var _ = topics();
    if (file != null) {
      fromFile();
    }
  }

  /** True where the user named a cluster in one of the ways. */
  public boolean isConfigured(Terminal terminal) {
    return clientSettings(terminal).containsKey(BOOTSTRAP);
  }

  /** The cluster's address; {@link #LOCAL} where the user named none. */
  public String bootstrap(Terminal terminal) {
    return clientSettings(terminal).getOrDefault(BOOTSTRAP, LOCAL);
  }

  /** All client settings but the address: security above all. */
  public Map<String, String> security(Terminal terminal) {
    Map<String, String> all = clientSettings(terminal);
    all.remove(BOOTSTRAP);
    return all;
  }

  private Map<String, String> clientSettings(Terminal terminal) {
    Map<String, String> all = new LinkedHashMap<>();
    String variable = terminal.variable(VARIABLE);
    if (variable != null) {
      all.put(BOOTSTRAP, variable);
    }
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith(PROPERTY_PREFIX))
        .sorted()
        .forEach(
            name -> all.put(name.substring(PROPERTY_PREFIX.length()), System.getProperty(name)));
    if (file != null) {
      fromFile().forEach((key, value) -> all.put(key.toString(), value.toString()));
    }
    all.putAll(settings);
    if (bootstrap != null) {
      all.put(BOOTSTRAP, bootstrap);
    }
    return all;
  }

  private Properties fromFile() {
    Properties properties = new Properties();
    try (Reader in = Files.newBufferedReader(file)) {
      properties.load(in);
    } catch (IOException e) {
      throw CommandException.badInput("kafka settings: " + FileTrouble.whyNotRead(file, e), e);
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(
          "kafka settings: cannot read %s: %s; write one key=value a line"
              .formatted(file, e.getMessage()),
          e);
    }
    return properties;
  }
}
