package dev.retstack.service.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class ReasonTest {
  @Test
  void whatIsExpectedIsSaidWithoutNamesOfClasses() {
    assertThat(Reason.of(new IOException("disk"))).isEqualTo("disk");
    assertThat(Reason.of(new CompletionException(new ExecutionException(new IOException("disk")))))
        .isEqualTo("disk");
    assertThat(Reason.of(new UncheckedIOException(new IOException("disk")))).isEqualTo("disk");
  }

  @Test
  void whatIsBehindItIsSaidOnce() {
    assertThat(Reason.of(new KafkaException("not sent", new IOException("closed"))))
        .isEqualTo("not sent: closed");
    assertThat(Reason.of(new KafkaException("not sent: late", new IOException("late"))))
        .isEqualTo("not sent: late");
    assertThat(Reason.of(new KafkaException(new IOException("late")))).isEqualTo("late");
  }

  /** Kafka's own words for it name a batch and milliseconds. */
  @Test
  void whoWaitedForKafkaIsToldWhereToLook() {
    assertThat(Reason.of(new CompletionException(new TimeoutException("Expiring 1 record(s)"))))
        .isEqualTo(
            "Kafka did not answer in time, see whether enough brokers run and have room (Expiring 1 record(s))");
  }

  @Test
  void aDefectIsNamed() {
    assertThat(Reason.of(new IllegalStateException("no room")))
        .isEqualTo("IllegalStateException: no room");
    assertThat(Reason.of(new IllegalStateException())).isEqualTo("IllegalStateException");
  }
}
