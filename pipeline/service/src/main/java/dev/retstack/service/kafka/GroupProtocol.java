package dev.retstack.service.kafka;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/** Decides which member of the group owns which partition. */
public enum GroupProtocol {
  /**
   * A member does, by the cooperative-sticky assignor. Every broker knows it, and it is what
   * members of earlier releases speak.
   */
  CLASSIC,
  /** The broker does (KIP-848): Kafka 4.0 and newer, with settings of the group at the broker. */
  CONSUMER;

  /** Value of Kafka's {@code group.protocol}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The protocol of that name, in any case.
   *
   * @throws IllegalArgumentException where there is none
   */
  public static GroupProtocol of(String word) {
    return Arrays.stream(values())
        .filter(protocol -> protocol.word().equals(word.strip().toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no group protocol '%s': use %s"
                        .formatted(
                            word,
                            Arrays.stream(values())
                                .map(GroupProtocol::word)
                                .collect(Collectors.joining(" or ")))));
  }

  /**
   * Refuses a client setting that means something else under this protocol, or nothing.
   *
   * @throws IllegalArgumentException with what to do in its place
   */
  void check(String key, String value) {
    if (this == CONSUMER) {
      switch (key) {
        case ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG,
            ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG ->
            throw new IllegalArgumentException(
                ("%s=%s goes with group.protocol=classic only: leave it out and set it for the group"
                        + " at the broker (kafka-configs.sh --entity-type groups --entity-name GROUP"
                        + " --alter --add-config consumer.%s=%s), or take --group-protocol classic")
                    .formatted(key, value, key, value));
        case ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG ->
            throw new IllegalArgumentException(
                "%s=%s goes with group.protocol=classic only: leave it out, the broker decides"
                    .formatted(key, value));
        default -> {}
      }
    } else {
      switch (key) {
        case ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG ->
            throw new IllegalArgumentException(
                "%s=%s goes with group.protocol=consumer only: leave it out, or take"
                        .formatted(key, value)
                    + " --group-protocol consumer");
        case ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG -> {
          if (!value.strip().endsWith("CooperativeStickyAssignor")) {
            throw new IllegalArgumentException(
                "%s=%s: leave it out; members of one group move partitions cooperatively or not at"
                        .formatted(key, value)
                    + " all, by CooperativeStickyAssignor");
          }
        }
        default -> {}
      }
    }
  }
}
