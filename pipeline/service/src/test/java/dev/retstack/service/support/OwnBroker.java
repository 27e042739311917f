package dev.retstack.service.support;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;

/** A real broker of a test's own, and of settings that others would not like. */
public final class OwnBroker implements AutoCloseable {
  private final TestNode node;

  private OwnBroker(TestNode node) {
    this.node = node;
  }

  /** Deletes what has expired within a second, where others look every 15 s. */
  public static OwnBroker thatDeletesSoon() throws Exception {
    return new OwnBroker(
        TestNode.start(TestNode.Cluster.fresh(), 1, 1, Map.of("log.cleaner.backoff.ms", "200")));
  }

  /** {@code host:port} for clients. */
  public String bootstrap() {
    return node.bootstrap();
  }

  /** Changes settings of a topic. */
  public void set(String topic, Map<String, String> settings) throws Exception {
    set(bootstrap(), topic, settings);
  }

  static void set(String bootstrap, String topic, Map<String, String> settings) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    List<AlterConfigOp> changes =
        settings.entrySet().stream()
            .map(e -> new ConfigEntry(e.getKey(), e.getValue()))
            .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
            .toList();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
    }
  }

  @Override
  public void close() {
    node.stop();
  }
}
