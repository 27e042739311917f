package dev.retstack.benchmarks.endurance;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Does something again and again on a thread of its own; its first failure is told. */
final class Every implements AutoCloseable {
  /** What is done. */
  interface Step {
    void run() throws Exception;
  }

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ScheduledFuture<?> turn;
  private final AtomicLong turns = new AtomicLong();

  private Every(long millis, CompletableFuture<?> failed, Step step) {
    Runnable once =
        () -> {
          try {
            step.run();
            turns.incrementAndGet();
          } catch (Exception | AssertionError e) {
            failed.completeExceptionally(e);
          }
        };
    turn = timer.scheduleAtFixedRate(once, 0, millis, TimeUnit.MILLISECONDS);
  }

  /** Begins at once. */
  static Every millis(long millis, CompletableFuture<?> failed, Step step) {
    return new Every(millis, failed, step);
  }

  /** How often it was done. */
  long turns() {
    return turns.get();
  }

  /** Ends after the turn that runs. */
  @Override
  public void close() {
    turn.cancel(false);
    timer.close();
  }
}
