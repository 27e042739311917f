package dev.retstack.answers.viewer;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.view.AboutView;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Answers for which much of a trace is read. Each is read once, in the background, as long as
 * somebody asks for it; the last ones are kept.
 *
 * @param <Q> what is asked, equal where the answer is the same
 * @param <R> the answer
 */
final class Readings<Q, R> {
  private static final int KEPT = 4;

  /** Time within which a client that waits for an answer asks again. */
  private static final Duration ASKED = Duration.ofSeconds(30);

  private final String phase;
  private final long chunks;
  private final LongSupplier nanoTime;
  private final Map<Q, Asked> readings = new LinkedHashMap<>(KEPT, 0.75f, true);

  /**
   * Begins with nothing read.
   *
   * @param phase its name where progress is shown
   * @param chunks of the trace
   * @param nanoTime clock for the time since the last question
   */
  Readings(String phase, long chunks, LongSupplier nanoTime) {
    this.phase = phase;
    this.chunks = chunks;
    this.nanoTime = nanoTime;
  }

  /** An answer that was asked for. */
  final class Asked {
    private final CompletableFuture<R> answer = new CompletableFuture<>();
    private volatile AboutView.Reading reading = now(0, 0);
    private volatile long last = nanoTime.getAsLong();

    CompletableFuture<R> answer() {
      return answer;
    }

    AboutView.Reading reading() {
      return reading;
    }

    private AboutView.Reading now(long done, long records) {
      return new AboutView.Reading(phase, done, chunks, records, "");
    }

    private void advanced(long done, long records) {
      if (answer.isDone() || nanoTime.getAsLong() - last > ASKED.toNanos()) {
        throw new CancellationException();
      }
      reading = now(done, records);
    }
  }

  /** Reads it, if nobody asked for it lately. */
  synchronized Asked ask(Q question, Function<TraceReplay.Progress, Callable<R>> reader) {
    Asked asked = readings.get(question);
    if (asked != null) {
      asked.last = nanoTime.getAsLong();
      return asked;
    }
    Asked next = new Asked();
    readings.put(question, next);
    if (readings.size() > KEPT) {
      Map.Entry<Q, Asked> eldest = readings.entrySet().iterator().next();
      readings.remove(eldest.getKey());
      eldest.getValue().answer.cancel(false);
    }
    Callable<R> read = reader.apply(next::advanced);
    Thread.ofPlatform()
        .name("retstack-" + phase)
        .daemon()
        .start(
            () -> {
              try {
                next.answer.complete(read.call());
              } catch (Exception e) {
                forget(question, next);
                next.answer.completeExceptionally(e);
              }
            });
    return next;
  }

  /** How far those are that have not ended, the one that was asked for last at the end. */
  synchronized Stream<AboutView.Reading> underWay() {
    return readings.values().stream()
        .filter(asked -> !asked.answer.isDone())
        .map(Asked::reading)
        .toList()
        .stream();
  }

  private synchronized void forget(Q question, Asked asked) {
    readings.remove(question, asked);
  }

  /** Nothing is read any more. */
  synchronized void close() {
    readings.values().forEach(asked -> asked.answer.cancel(false));
    readings.clear();
  }
}
