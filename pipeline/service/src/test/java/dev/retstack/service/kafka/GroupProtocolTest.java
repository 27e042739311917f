package dev.retstack.service.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings that do not go together are refused before anything starts, with a cure. */
class GroupProtocolTest {
  @ParameterizedTest
  @CsvSource({
    "consumer, session.timeout.ms, 6000, consumer.session.timeout.ms=6000",
    "consumer, heartbeat.interval.ms, 500, consumer.heartbeat.interval.ms=500",
    "consumer, partition.assignment.strategy, range, leave it out",
    "classic, group.remote.assignor, uniform, --group-protocol consumer",
    "classic, partition.assignment.strategy, org.apache.kafka.clients.consumer.RangeAssignor,"
        + " leave it out",
    "newest, session.timeout.ms, 6000, use classic or consumer",
  })
  void whatDoesNotGoTogetherIsRefused(String protocol, String key, String value, String cure) {
    KafkaSettings kafka =
        new KafkaSettings("localhost:1", Map.of("group.protocol", protocol, key, value));
    assertThatThrownBy(kafka::member)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(cure);
  }

  @Test
  void onlyMembersAreToldOfTheGroup() {
    KafkaSettings kafka =
        new KafkaSettings(
            "localhost:1", Map.of("group.protocol", "Consumer", "client.rack", "north"));
    assertThat(kafka.groupProtocol()).isEqualTo(GroupProtocol.CONSUMER);
    assertThat(kafka.consumer()).doesNotContainKey("group.protocol").containsKey("client.rack");
    assertThat(kafka.member())
        .containsEntry("group.protocol", "consumer")
        .doesNotContainKey("partition.assignment.strategy");
    assertThat(kafka.withGroupProtocol(GroupProtocol.CLASSIC).member())
        .containsEntry("group.protocol", "classic")
        .containsKey("partition.assignment.strategy");
  }
}
