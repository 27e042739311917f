package dev.retstack.service.viewer;

import dev.retstack.graph.state.GraphState;
import dev.retstack.service.replay.TraceReplay;
import dev.retstack.service.view.AboutView;
import dev.retstack.service.window.WindowQuestion;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Times of a trace whose calls are added up by their stacks. Each is read once, in the background,
 * as long as somebody asks for it; the last ones are kept.
 */
final class StackReadings {
  private static final int KEPT = 4;

  /** Who asks for it comes back within seconds. */
  private static final Duration ASKED = Duration.ofSeconds(30);

  private final long chunks;
  private final LongSupplier nanoTime;
  private final Map<WindowQuestion, Asked> readings = new LinkedHashMap<>(KEPT, 0.75f, true);

  /**
   * Nothing was read.
   *
   * @param chunks of the trace
   * @param nanoTime the clock that tells how long nobody has asked
   */
  StackReadings(long chunks, LongSupplier nanoTime) {
    this.chunks = chunks;
    this.nanoTime = nanoTime;
  }

  /** One that was asked for. */
  final class Asked {
    private final CompletableFuture<GraphState> state = new CompletableFuture<>();
    private volatile AboutView.Reading reading = now(0, 0);
    private volatile long last = nanoTime.getAsLong();

    CompletableFuture<GraphState> state() {
      return state;
    }

    AboutView.Reading reading() {
      return reading;
    }

    private AboutView.Reading now(long done, long records) {
      return new AboutView.Reading("stacks", done, chunks, records, "");
    }

    private void advanced(long done, long records) {
      if (state.isDone() || nanoTime.getAsLong() - last > ASKED.toNanos()) {
        throw new CancellationException();
      }
      reading = now(done, records);
    }
  }

  /** Reads it, if nobody asked for it lately. */
  synchronized Asked ask(
      WindowQuestion question, Function<TraceReplay.Progress, Callable<GraphState>> reader) {
    Asked asked = readings.get(question);
    if (asked != null) {
      asked.last = nanoTime.getAsLong();
      return asked;
    }
    Asked next = new Asked();
    readings.put(question, next);
    if (readings.size() > KEPT) {
      Map.Entry<WindowQuestion, Asked> eldest = readings.entrySet().iterator().next();
      readings.remove(eldest.getKey());
      eldest.getValue().state.cancel(false);
    }
    Callable<GraphState> read = reader.apply(next::advanced);
    Thread.ofPlatform()
        .name("retstack-stacks")
        .daemon()
        .start(
            () -> {
              try {
                next.state.complete(read.call());
              } catch (Exception e) {
                forget(question, next);
                next.state.completeExceptionally(e);
              }
            });
    return next;
  }

  private synchronized void forget(WindowQuestion question, Asked asked) {
    readings.remove(question, asked);
  }

  /** Nothing is read any more. */
  synchronized void close() {
    readings.values().forEach(asked -> asked.state.cancel(false));
    readings.clear();
  }
}
