package dev.retstack.service.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.junit.jupiter.api.Test;

class SetbackTest {
  @Test
  void aFenceSaysThatAnotherMemberOwnsThePartition() {
    assertThat(Setback.why(new ProducerFencedException("old epoch")))
        .contains("another member owns it now")
        .contains("the broker refused")
        .doesNotContain("Exception");
    assertThat(Setback.why(new KafkaException("x", new InvalidProducerEpochException("old epoch"))))
        .contains("another member owns it now");
  }

  @Test
  void anythingElseIsSaidAsItIs() {
    assertThat(Setback.why(new IOException("disk"))).isEqualTo("disk");
  }
}
