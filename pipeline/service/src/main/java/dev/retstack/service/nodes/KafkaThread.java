package dev.retstack.service.nodes;

import dev.retstack.service.kafka.Reason;
import java.time.Duration;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that does one thing with Kafka until it is closed, and begins anew where that fails. */
abstract class KafkaThread implements AutoCloseable {
  private final Logger log = LoggerFactory.getLogger(getClass());
  private final String aim;
  private final Duration pause;
  private final Duration patience;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * A thread that does not run yet.
   *
   * @param aim what it does, for the log
   * @param pause until it begins anew where Kafka failed
   * @param patience longest wait for its end
   */
  KafkaThread(String name, String aim, Duration pause, Duration patience) {
    this.aim = aim;
    this.pause = pause;
    this.patience = patience;
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
  }

  /**
   * Does it, until closed.
   *
   * @throws KafkaException makes it begin anew
   */
  abstract void work();

  final void begin() {
    thread.start();
  }

  final boolean isClosed() {
    return closed;
  }

  private void run() {
    while (!closed) {
      try {
        work();
      } catch (KafkaException e) {
        log.warn("cannot {}: {}; trying again", aim, Reason.of(e));
        pause();
      }
    }
  }

  private void pause() {
    try {
      Thread.sleep(pause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  /** Ends it; returns at once where it was never begun. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join(patience.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
