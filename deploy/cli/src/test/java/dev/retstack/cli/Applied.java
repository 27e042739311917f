package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.service.Pipeline;
import dev.retstack.service.progress.CoreProgress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for what a pipeline of this JVM has applied. */
public final class Applied {
  private static final long PATIENCE_MINUTES = 2;
  private static final long PAUSE_NANOS = 20_000_000; // who is waited for has the processor then

  private Applied() {}

  /** Waits until the cores of the job have so many records together. */
  public static void await(Pipeline pipeline, long records) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
    for (long are = applied(pipeline); are < records; are = applied(pipeline)) {
      assertThat(System.nanoTime())
          .as("%,d of %,d records are applied", are, records)
          .isLessThan(deadline);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static long applied(Pipeline pipeline) throws Exception {
    return pipeline
        .progress()
        .toCompletableFuture()
        .get(PATIENCE_MINUTES, TimeUnit.MINUTES)
        .stream()
        .mapToLong(CoreProgress::records)
        .sum();
  }
}
