package dev.retstack.cli.command;

import dev.retstack.schema.wire.Visible;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ends everything that was started, last started first, exactly once: when the verb is done, when
 * it fails, or when the process is asked to stop (Ctrl-C, TERM).
 */
public final class Shutdown implements AutoCloseable {
  private final Deque<AutoCloseable> started = new ArrayDeque<>();
  private final ReentrantLock closing = new ReentrantLock();
  private final CountDownLatch requested = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stopWithProcess, "retstack-shutdown");

  private static volatile boolean processEnds;

  private Shutdown() {}

  /**
   * True once the process was asked to stop. Errors after that come from parts being closed and are
   * not worth reporting.
   */
  public static boolean processEnds() {
    return processEnds;
  }

  /** Listens to the process's end from now on. */
  public static Shutdown install() {
    Shutdown shutdown = new Shutdown();
    Runtime.getRuntime().addShutdownHook(shutdown.hook);
    return shutdown;
  }

  /**
   * Takes charge of a part that runs.
   *
   * @throws IllegalStateException when the end has begun; the part is closed already
   */
  public <T extends AutoCloseable> T add(T part) {
    closing.lock();
    try {
      if (requested.getCount() > 0) {
        started.push(part);
        return part;
      }
      closeQuietly(part);
      throw new IllegalStateException("the process is ending");
    } finally {
      closing.unlock();
    }
  }

  /** Blocks until the process is asked to stop. */
  public void await() throws InterruptedException {
    requested.await();
  }

  /** Blocks until the process is asked to stop, at most this long. Returns whether it was asked. */
  public boolean await(Duration most) throws InterruptedException {
    return requested.await(most.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Releases the threads in {@link #await}: there is nothing left to wait for. */
  public void request() {
    requested.countDown();
  }

  @Override
  public void close() {
    stop();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the process is ending already, and the hook runs or ran
    }
  }

  private void stopWithProcess() {
    processEnds = true;
    stop();
  }

  private void stop() {
    requested.countDown();
    closing.lock();
    try {
      while (!started.isEmpty()) {
        closeQuietly(started.pop());
      }
    } finally {
      closing.unlock();
    }
  }

  private static void closeQuietly(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) { // the others must be closed all the same
      System.err.println(
          Visible.lines(
              "retstack: a part did not stop in order: %s; what it wrote may be cut off"
                  .formatted(FileTrouble.words(e))));
    }
  }
}
