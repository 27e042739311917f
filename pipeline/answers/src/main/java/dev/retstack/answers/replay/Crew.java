package dev.retstack.answers.replay;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;

/** Some threads that do the same work on a file, the caller one of them. */
final class Crew {
  private Crew() {}

  /** What each does until nothing is left; where one fails, the others end by themselves. */
  interface Work {
    void run() throws IOException, InterruptedException;
  }

  /** Returns when all have ended. Throws what failed first. */
  static void run(int threads, Path file, Work work) throws IOException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Runnable one =
        () -> {
          try {
            work.run();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure.compareAndSet(null, new IOException("interrupted while reading " + file, e));
          } catch (Exception | Error e) {
            failure.compareAndSet(null, e);
          }
        };
    ThreadFactory factory = Thread.ofPlatform().daemon().name("replay-", 1).factory();
    List<Thread> others = new ArrayList<>();
    for (int i = 1; i < threads; i++) {
      others.add(factory.newThread(one));
    }
    others.forEach(Thread::start);
    one.run();
    boolean interrupted = Thread.interrupted();
    for (Thread other : others) {
      while (other.isAlive()) {
        try {
          other.join();
        } catch (InterruptedException e) {
          interrupted = true;
          others.forEach(Thread::interrupt);
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    switch (failure.get()) {
      case null -> {}
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalStateException(e);
    }
  }
}
