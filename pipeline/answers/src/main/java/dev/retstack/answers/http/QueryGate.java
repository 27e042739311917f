package dev.retstack.answers.http;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Source;

/**
 * Lets a bounded number of operations run at once and refuses the others. Each query copies states,
 * so too many would take the heap from the stream. Safe for use by several threads.
 */
public final class QueryGate {
  /** Within which a stream that has a place has to begin. */
  private static final int BEGIN_SECONDS = 10;

  private final String what;
  private final int most;
  private final AtomicInteger running;

  /**
   * A gate.
   *
   * @param what runs, for the message
   * @param running counts them
   */
  public QueryGate(String what, int most, AtomicInteger running) {
    this.what = what;
    this.most = most;
    this.running = running;
  }

  /**
   * Begins a query.
   *
   * @throws BadRequestException 429 where too many are running
   */
  public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> query) {
    return hold(leave -> query.get().whenComplete((_, _) -> leave.run()));
  }

  /**
   * Begins a query, which has its place until it says that it needs it no more, or fails.
   *
   * @param query is given what says so; a second time does nothing
   * @throws BadRequestException 429 where too many are running
   */
  public <T> CompletionStage<T> hold(Function<Runnable, CompletionStage<T>> query) {
    enter();
    AtomicBoolean left = new AtomicBoolean();
    Runnable leave =
        () -> {
          if (left.compareAndSet(false, true)) {
            leave();
          }
        };
    try {
      return query
          .apply(leave)
          .whenComplete(
              (_, why) -> {
                if (why != null) {
                  leave.run();
                }
              });
    } catch (RuntimeException e) {
      leave.run();
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
   * A stream that has its place from now on, while the answer can still say that there is none, and
   * gives it back when it ends. A client that went before the stream began gives it back too.
   *
   * @throws BadRequestException 429 where there is none
   */
  public <T> Source<T, NotUsed> stream(Supplier<Source<T, NotUsed>> body) {
    enter();
    AtomicBoolean decided = new AtomicBoolean();
    CompletableFuture.delayedExecutor(BEGIN_SECONDS, TimeUnit.SECONDS)
        .execute(
            () -> {
              if (decided.compareAndSet(false, true)) {
                leave();
              }
            });
    return Source.lazySource(() -> decided.compareAndSet(false, true) ? held(body) : none())
        .mapMaterializedValue(_ -> NotUsed.getInstance());
  }

  private <T> Source<T, NotUsed> held(Supplier<Source<T, NotUsed>> body) {
    Source<T, NotUsed> source;
    try {
      source = body.get();
    } catch (RuntimeException e) {
      leave();
      throw e;
    }
    return source.watchTermination(
        (_, done) -> {
          done.whenComplete((_, _) -> leave());
          return NotUsed.getInstance();
        });
  }

  private static <T> Source<T, NotUsed> none() {
    return Source.<T>empty();
  }

  private BadRequestException full() {
    return new BadRequestException(
        429, "%d %s at once already".formatted(most, what), "ask again in a moment");
  }

  void leave() {
    running.decrementAndGet();
  }
}
