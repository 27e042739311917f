package dev.retstack.answers.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Bounds of what runs at once, and of what one answer holds. */
class QueryGateTest {
  @Test
  void placesComeBackWhenAQueryEndsInWhateverWay() {
    AtomicInteger running = new AtomicInteger();
    QueryGate gate = new QueryGate("queries", 2, running);
    CompletableFuture<String> one = new CompletableFuture<>();
    CompletableFuture<String> two = new CompletableFuture<>();
    gate.run(() -> one);
    gate.run(() -> two);
    assertThatThrownBy(() -> gate.run(() -> one))
        .isInstanceOfSatisfying(
            BadRequestException.class,
            e -> {
              assertThat(e.status()).isEqualTo(429);
              assertThat(e).hasMessage("2 queries at once already");
            });
    assertThat(running).hasValue(2);
    one.complete("done");
    two.completeExceptionally(new IllegalStateException("lost"));
    assertThat(running).hasValue(0);
    assertThatThrownBy(
            () ->
                gate.run(
                    () -> {
                      throw new IllegalStateException("did not even begin");
                    }))
        .hasMessage("did not even begin");
    assertThat(running).hasValue(0);
  }

  @Test
  void aListTooLongForOneAnswerIsRefusedUntilItIsAskedForInParts() {
    List<Integer> rows = IntStream.range(0, Page.ROWS_MAX + 5).boxed().toList();
    assertThatThrownBy(() -> Page.of(rows, "anomalies", Map.of()))
        .isInstanceOf(BadRequestException.class)
        .hasMessage("50005 anomalies, of which one answer holds 50000 at most");
    Page<Integer> last = Page.of(rows, "anomalies", Map.of("offset", "50000"));
    assertThat(last.rows()).containsExactly(50_000, 50_001, 50_002, 50_003, 50_004);
    assertThat(last.header()).isEqualTo("offset=50000; rows=5; of=50005");
    assertThat(Page.of(rows, "anomalies", Map.of("limit", "1")).rows()).containsExactly(0);
    assertThat(Page.of(List.of(), "cores", Map.of()).header()).isEqualTo("offset=0; rows=0; of=0");
  }
}
