package dev.retstack.service.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for what a running member does.
 *
 * @param patience after which a test fails
 */
public record Waits(Duration patience) {
  private static final long PAUSE_NANOS = 20_000_000;

  /** A page of all metrics costs milliseconds to make and to read. */
  private static final long PAGE_PAUSE_NANOS = 60_000_000;

  /** What is waited for. */
  public interface Condition {
    boolean holds() throws Exception;
  }

  /** The result of a stage. */
  public <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(patience.toSeconds(), TimeUnit.SECONDS);
  }

  /** Between two looks: whoever is waited for has the processor meanwhile. */
  public static void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  /** Between two looks at a page that costs whoever is waited for something. */
  public static void pauseOfPages() {
    LockSupport.parkNanos(PAGE_PAUSE_NANOS);
  }

  /** Looks again until it holds; each look asks the running system. */
  public void await(String what, Condition condition) throws Exception {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as(what).isLessThan(deadline);
      pause();
    }
  }
}
