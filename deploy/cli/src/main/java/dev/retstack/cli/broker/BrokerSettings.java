package dev.retstack.cli.broker;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Kafka's settings for one node that is broker and controller at once, on loopback only. */
final class BrokerSettings {
  static final int NODE_ID = 1;
  static final String HOST = "127.0.0.1";
  static final String CONTROLLER_LISTENER = "CONTROLLER";

  /** Largest Kafka record: well above the largest chunk. */
  static final int MESSAGE_BYTES_MAX = 8 << 20;

  private BrokerSettings() {}

  static Map<String, String> of(Path logDir, int port, int controllerPort) {
    Map<String, String> settings = new HashMap<>();
    settings.put("process.roles", "broker,controller");
    settings.put("node.id", String.valueOf(NODE_ID));
    // static voters: the controller's port may be another one after a restart
    settings.put("controller.quorum.voters", NODE_ID + "@" + HOST + ":" + controllerPort);
    settings.put("controller.listener.names", CONTROLLER_LISTENER);
    settings.put(
        "listeners",
        "PLAINTEXT://%s:%d,%s://%s:%d"
            .formatted(HOST, port, CONTROLLER_LISTENER, HOST, controllerPort));
    settings.put("advertised.listeners", "PLAINTEXT://%s:%d".formatted(HOST, port));
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
}
