package dev.retstack.service.checkpoint;

import dev.retstack.service.kafka.Reason;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Why a partition goes back to its last checkpoint, in words for the operator. */
public final class Setback {
  private Setback() {}

  /** The cause in one sentence. */
  public static String why(Throwable cause) {
    return isFence(cause)
        ? "another member owns it now, and the broker refused what this one had not committed"
        : Reason.of(cause);
  }

  /** True where the member stood still, or was cut off, for longer than its session. */
  public static boolean isFence(Throwable cause) {
    return cause != null
        && (cause instanceof ProducerFencedException
            || cause instanceof InvalidProducerEpochException
            || isFence(cause.getCause()));
  }
}
