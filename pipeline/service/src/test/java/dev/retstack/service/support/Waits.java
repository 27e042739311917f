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
  private static final long PAUSE_NANOS_MAX = 300_000_000;

  /** Of the time since the first look, the part until the next one. */
  private static final int PART = 5;

  /** What is waited for. */
  public interface Condition {
    boolean holds() throws Exception;
  }

  /** The result of a stage. */
  public <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(patience.toSeconds(), TimeUnit.SECONDS);
  }

  /**
   * Between two looks. Each costs the member something, so a long wait looks less often.
   *
   * @param began time of the first look, of {@link System#nanoTime}
   * @param patience after which the test fails
   * @param seen what the last look saw
   */
  public static void pause(long began, Duration patience, Object seen) {
    long waited = System.nanoTime() - began;
    assertThat(waited).as("%s", seen).isLessThan(patience.toNanos());
    LockSupport.parkNanos(Math.clamp(waited / PART, PAUSE_NANOS, PAUSE_NANOS_MAX));
  }

  /** Looks again until it holds; each look asks the running system. */
  public void await(String what, Condition condition) throws Exception {
    long began = System.nanoTime();
    while (!condition.holds()) {
      pause(began, patience, what);
    }
  }
}
