package dev.retstack.service.query;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Lets a bounded number of things run at once and refuses the others: each query copies states, so
 * that many at once would take the heap from the stream. Safe for use by several threads.
 */
final class QueryGate {
  private final String what;
  private final int most;
  private final AtomicInteger running;

  /**
   * A gate.
   *
   * @param what runs, for the message
   * @param running counts them
   */
  QueryGate(String what, int most, AtomicInteger running) {
    this.what = what;
    this.most = most;
    this.running = running;
  }

  /**
   * Begins a query.
   *
   * @throws BadRequestException 429 where too many are running
   */
  <T> CompletionStage<T> run(Supplier<CompletionStage<T>> query) {
    enter();
    try {
      return query.get().whenComplete((_, _) -> leave());
    } catch (RuntimeException e) {
      leave();
      throw e;
    }
  }

  /**
   * Takes a place, which {@link #leave} gives back.
   *
   * @throws BadRequestException 429 where there is none
   */
  void enter() {
    if (running.incrementAndGet() > most) {
      running.decrementAndGet();
      throw full();
    }
  }

  /**
   * Looks for a place without taking it.
   *
   * @throws BadRequestException 429 where there is none
   */
  void requireRoom() {
    if (running.get() >= most) {
      throw full();
    }
  }

  private BadRequestException full() {
    return new BadRequestException(
        429, "%d %s at once already".formatted(most, what), "ask again in a moment");
  }

  void leave() {
    running.decrementAndGet();
  }
}
