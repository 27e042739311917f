package dev.retstack.service.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;

/** Why something failed, in words for the log of a member. */
public final class Reason {
  private Reason() {}

  /**
   * A sentence: what failed, and after a colon what is behind it where that says more. Names of
   * Java classes are there only for unexpected failures.
   */
  public static String of(Throwable failure) {
    Throwable told = failure;
    while (isWrapping(told) && told.getCause() != null) {
      told = told.getCause();
    }
    String words = words(told);
    Throwable root = told;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String behind = words(root);
    return words.contains(behind) ? words : words + ": " + behind;
  }

  private static boolean isWrapping(Throwable failure) {
    return failure instanceof CompletionException
        || failure instanceof ExecutionException
        || failure.getMessage() == null
        || (failure.getCause() != null
            && failure.getMessage().equals(failure.getCause().toString()));
  }

  private static String words(Throwable one) {
    if (one instanceof org.apache.kafka.common.errors.TimeoutException) {
      return "Kafka did not answer in time, see whether enough brokers run and have room (%s)"
          .formatted(one.getMessage());
    }
    boolean expected =
        one instanceof IOException
            || one instanceof UncheckedIOException
            || one instanceof KafkaException
            || one instanceof TimeoutException;
    String name = one.getClass().getSimpleName();
    String message = one.getMessage();
    if (message == null || message.isBlank()) {
      return name;
    }
    return expected ? message : name + ": " + message;
  }
}
