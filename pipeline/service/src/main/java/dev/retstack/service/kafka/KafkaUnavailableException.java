package dev.retstack.service.kafka;

import java.io.IOException;

/**
 * Kafka does not answer, or refuses what is asked of it. The message names the address and cure.
 */
public final class KafkaUnavailableException extends IOException {
  private static final long serialVersionUID = 1;

  public KafkaUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
