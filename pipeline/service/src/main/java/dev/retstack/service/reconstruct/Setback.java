package dev.retstack.service.reconstruct;

import dev.retstack.service.ingest.Reason;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Why a partition goes back to its last checkpoint, in words for whoever runs the member. */
final class Setback {
  private Setback() {}

  /** The cause in one sentence. */
  static String why(Throwable cause) {
    Throwable root = cause;
    while (root.getCause() != null && !isFence(root)) {
      root = root.getCause();
    }
    // a member that stood still, or was cut off, for longer than its session
    return isFence(root)
        ? "another member owns it now, and the broker refused what this one had not committed"
        : Reason.of(cause);
  }

  private static boolean isFence(Throwable cause) {
    return cause instanceof ProducerFencedException
        || cause instanceof InvalidProducerEpochException;
  }
}
