package dev.retstack.answers.viewer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.question.WindowQuestion;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.graph.state.GraphState;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readings in the background end when nobody wants them any more. */
@Timeout(60)
class ReadingsTest {
  private final AtomicLong now = new AtomicLong();
  private final Readings<WindowQuestion, GraphState> readings =
      new Readings<>("stacks", 100, now::get);

  private static WindowQuestion question(int from) {
    return WindowQuestion.of(Map.of("from", String.valueOf(from)));
  }

  /** Reads a chunk each time it is let; it never ends by itself. */
  private static final class Endless
      implements Function<TraceReplay.Progress, Callable<GraphState>> {
    private final Exchanger<Boolean> turn = new Exchanger<>();
    private final CountDownLatch ended = new CountDownLatch(1);

    @Override
    public Callable<GraphState> apply(TraceReplay.Progress progress) {
      return () -> {
        try {
          for (long chunk = 1; ; chunk++) {
            turn.exchange(true);
            progress.advanced(chunk, 10 * chunk);
            turn.exchange(true);
          }
        } finally {
          ended.countDown();
        }
      };
    }

    private void chunk() throws InterruptedException {
      turn.exchange(true);
      turn.exchange(true);
    }

    private void lastChunk() throws InterruptedException {
      turn.exchange(true);
      ended.await();
    }
  }

  private static void assertGivenUp(Readings<WindowQuestion, GraphState>.Asked asked) {
    assertThatThrownBy(() -> asked.answer().join())
        .satisfiesAnyOf(
            e -> assertThat(e).isInstanceOf(CancellationException.class),
            e ->
                assertThat(e)
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(CancellationException.class));
  }

  @Test
  void whoAsksAgainSeesHowFarItIs() throws Exception {
    Endless endless = new Endless();
    Readings<WindowQuestion, GraphState>.Asked asked = readings.ask(question(1), endless);
    endless.chunk();
    endless.chunk();
    assertThat(asked.reading().chunks()).isEqualTo(2);
    assertThat(asked.reading().records()).isEqualTo(20);
    assertThat(readings.underWay()).containsExactly(asked.reading());
    assertThat(readings.ask(question(1), endless)).isSameAs(asked);
    readings.close();
    endless.lastChunk();
    assertGivenUp(asked);
  }

  @Test
  void oneThatNobodyAsksForStops() throws Exception {
    Endless endless = new Endless();
    Readings<WindowQuestion, GraphState>.Asked asked = readings.ask(question(1), endless);
    now.addAndGet(Duration.ofSeconds(29).toNanos());
    endless.chunk();
    readings.ask(question(1), endless);
    now.addAndGet(Duration.ofSeconds(29).toNanos());
    endless.chunk();
    now.addAndGet(Duration.ofSeconds(2).toNanos());
    endless.lastChunk();
    assertGivenUp(asked);
    GraphState state = new GraphState();
    Readings<WindowQuestion, GraphState>.Asked again = readings.ask(question(1), _ -> () -> state);
    assertThat(again.answer().join()).isSameAs(state);
    assertThat(readings.underWay()).isEmpty();
  }

  @Test
  void theFifthTakesThePlaceOfTheOneNotAskedForLongest() throws Exception {
    Endless endless = new Endless();
    final Readings<WindowQuestion, GraphState>.Asked first = readings.ask(question(1), endless);
    GraphState state = new GraphState();
    for (int other = 2; other <= 5; other++) {
      assertThat(readings.ask(question(other), _ -> () -> state).answer().join()).isSameAs(state);
    }
    endless.lastChunk();
    assertGivenUp(first);
  }

  @Test
  void afterAFailureItIsReadAgain() {
    Readings<WindowQuestion, GraphState>.Asked failed =
        readings.ask(
            question(1),
            _ ->
                () -> {
                  throw new IllegalStateException("cut off");
                });
    assertThatThrownBy(() -> failed.answer().join()).hasMessageContaining("cut off");
    GraphState state = new GraphState();
    assertThat(readings.ask(question(1), _ -> () -> state).answer().join()).isSameAs(state);
  }
}
