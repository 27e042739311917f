package dev.retstack.fleet.publish;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.wire.Topics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.junit.jupiter.api.Test;

/** What a sink says before there is a broker; with one it is tested beside the embedded broker. */
class KafkaChunkSinkTest {
  @Test
  void aClusterThatDoesNotAnswerIsNamed() throws IOException {
    String address;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = "127.0.0.1:" + free.getLocalPort();
    }
    Map<String, Object> settings =
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            address,
            ProducerConfig.MAX_BLOCK_MS_CONFIG,
            500);
    assertThatThrownBy(() -> KafkaChunkSink.open(settings, Topics.standard()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no topic retstack.events.v1 at " + address)
        .hasMessageContaining("is the broker running");
  }

  @Test
  void wrongSettingsAreRefusedWithTheReason() {
    Map<String, Object> settings =
        Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "no port in this");
    assertThatThrownBy(() -> KafkaChunkSink.open(settings, Topics.standard()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no port in this");
  }
}
