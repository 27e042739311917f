package dev.retstack.answers.question;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.replay.TraceTimeline;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Draws the cores of a timeline, as many at a time as there are processors. That bounds the
 * half-drawn cores in memory, however many are asked for.
 */
public final class Drawers implements AutoCloseable {
  /** Rows of a timeline at most, of all cores together. */
  static final long ROWS_MAX = 1 << 18;

  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          Runtime.getRuntime().availableProcessors(), Thread.ofVirtual().factory());

  /** What one core did. */
  public interface Core {
    /** Draws it. */
    TraceTimeline.Answer draw() throws IOException;
  }

  /**
   * Draws them.
   *
   * @param drawing how fine they are asked for
   * @return in the order of the cores
   * @throws BadRequestException where they have too many rows
   */
  public List<TraceTimeline.Answer> draw(List<Core> cores, TraceTimeline.Drawing drawing)
      throws IOException {
    AtomicLong rows = new AtomicLong();
    List<Future<TraceTimeline.Answer>> drawn = new ArrayList<>();
    for (Core core : cores) {
      drawn.add(
          threads.submit(
              () -> {
                requireFew(rows.get(), cores.size(), drawing);
                TraceTimeline.Answer answer = core.draw();
                int own = answer.timeline().rows().size();
                requireFew(rows.addAndGet(own), cores.size(), drawing);
                return answer;
              }));
    }
    try {
      List<TraceTimeline.Answer> answers = new ArrayList<>();
      for (Future<TraceTimeline.Answer> one : drawn) {
        answers.add(one.get());
      }
      return answers;
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IOException wrong -> throw wrong;
        case RuntimeException wrong -> throw wrong;
        case null, default -> throw new IllegalStateException(e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancellationException();
    } finally {
      drawn.forEach(one -> one.cancel(false));
    }
  }

  private static void requireFew(long rows, int cores, TraceTimeline.Drawing drawing) {
    if (rows > ROWS_MAX) {
      throw new BadRequestException(
          413,
          "%d cores of %d stretches in %d lines have more than %,d rows"
              .formatted(cores, drawing.width(), drawing.depth(), ROWS_MAX),
          "lower width or depth, or name one core");
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
