package dev.retstack.cli.doctor;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.KafkaException;

/** Whether a Kafka cluster answers. */
final class BrokerCheck {
  private static final String TIMEOUT_MS = "5000";

  private BrokerCheck() {}

  static Finding run(String bootstrap, Map<String, String> security) {
    Map<String, Object> settings = new HashMap<>(security);
    settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
    settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
    try (Admin admin = Admin.create(settings)) {
      int nodes = admin.describeCluster().nodes().get().size();
      return Finding.ok("kafka", bootstrap + ", " + nodes + " node(s)");
    } catch (ExecutionException | KafkaException e) {
      Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
      return Finding.missing(
          "kafka",
          bootstrap + " does not answer: " + cause.getMessage(),
          "check the address and the security settings, or start one: retstack broker --dir DIR");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Finding.missing("kafka", bootstrap + ": interrupted", "");
    }
  }
}
