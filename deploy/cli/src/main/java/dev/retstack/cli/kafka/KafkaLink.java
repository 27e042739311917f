package dev.retstack.cli.kafka;

import dev.retstack.cli.command.CommandException;
import dev.retstack.fleet.control.KafkaControlChannel;
import dev.retstack.fleet.publish.KafkaChunkSink;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.control.ControlClient;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.OtherVersionException;
import dev.retstack.service.kafka.TopicAdmin;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A cluster and the topics on it.
 *
 * @param settings address and client settings
 * @param topics names of the topics
 * @param partitions of topics that have to be created
 */
public record KafkaLink(KafkaSettings settings, Topics topics, int partitions) {
  /** A fresh broker takes a while until it creates topics. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Partitions of a topic that has to be created, where the user says nothing. */
  public static final int PARTITIONS = 4;

  /** A cluster whose topics have as many partitions as usual. */
  public KafkaLink(KafkaSettings settings, Topics topics) {
    this(settings, topics, PARTITIONS);
  }

  /** Makes sure that the topics exist. */
  public void ensureTopics() throws InterruptedException {
    try (TopicAdmin admin = new TopicAdmin(settings, PATIENCE)) {
      admin.ensure(topics, partitions);
    } catch (OtherVersionException e) {
      throw CommandException.badInput(e.getMessage(), e);
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  /** Opens the way in for images and chunks. */
  public KafkaChunkSink openSink() {
    try {
      return KafkaChunkSink.open(all(), topics);
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  /** Opens the way in for commands, and the way out for answers. */
  public KafkaControlChannel openControl() {
    try {
      return KafkaControlChannel.open(all(), topics);
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  /** Opens the other end of it: gives commands, and hears the answers from now on. */
  public ControlClient openCommands() {
    try {
      return ControlClient.open(settings, topics);
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  private Map<String, Object> all() {
    Map<String, Object> all = new HashMap<>(settings.properties());
    all.put("bootstrap.servers", settings.bootstrap());
    return all;
  }
}
