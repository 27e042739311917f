package dev.retstack.service.reconstruct;

import dev.retstack.service.ingest.Reason;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Why a partition goes back to its last checkpoint, in words for whoever runs the member. */
public final class Setback {
  private Setback() {}

  /** The cause in one sentence. */
  static String why(Throwable cause) {
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
