package dev.retstack.cli.fleet;

import dev.retstack.fleet.publish.ChunkSink;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Says once that Kafka does not answer, and once that it does again. Cores do not show it: they
 * continue while there is room for their chunks.
 */
final class SilenceTeller implements AutoCloseable {
  /** Brokers may take a moment without being away. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final long LOOK_MILLIS = 500;

  private final ChunkSink sink;
  private final Consumer<String> say;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread thread;

  SilenceTeller(ChunkSink sink, Consumer<String> say) {
    this.sink = sink;
    this.say = say;
    this.thread = Thread.ofVirtual().name("retstack-silence").unstarted(this::watch);
    if (!sink.address().isEmpty()) {
      thread.start();
    }
  }

  private void watch() {
    Duration longest = Duration.ZERO; // of the silence that was reported
    try {
      while (!over.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        Duration now = sink.silence();
        if (now.compareTo(longest) < 0) {
          say.accept(
              "kafka at %s answers again after %d s: the fleet continues"
                  .formatted(sink.address(), longest.toSeconds()));
          longest = Duration.ZERO;
        } else if (now.compareTo(PATIENCE) >= 0) {
          if (longest.isZero()) {
            say.accept(
                "kafka at %s has not answered for %d s: the fleet waits for it; nothing is lost, and"
                        .formatted(sink.address(), now.toSeconds())
                    + " cores stand still when there is no more room for their records");
          }
          longest = now;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Says nothing any more. */
  @Override
  public void close() {
    over.countDown();
    try {
      if (thread.getState() != Thread.State.NEW) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
