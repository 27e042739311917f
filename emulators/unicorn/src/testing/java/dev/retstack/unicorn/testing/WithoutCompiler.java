package dev.retstack.unicorn.testing;

import dev.retstack.unicorn.Unicorn;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Skips a test that failed because no C compiler built the native parts. It stands in the tests of
 * every module that emulates.
 */
public final class WithoutCompiler
    implements TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler {
  private static final String REASON = "skipped: no C compiler built the native parts";

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw skippedOr(thrown);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw skippedOr(thrown);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw skippedOr(thrown);
  }

  /** Skips the calling test where its guest could end the process. */
  public static void assumeBounded() {
    Assumptions.assumeTrue(Unicorn.isBounded(), REASON);
  }

  private static Throwable skippedOr(Throwable thrown) {
    return namesLibrary(thrown) && !Unicorn.isBounded() ? new TestAbortedException(REASON) : thrown;
  }

  private static boolean namesLibrary(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (String.valueOf(cause.getMessage()).contains("libretstack-")) {
        return true;
      }
    }
    return false;
  }
}
