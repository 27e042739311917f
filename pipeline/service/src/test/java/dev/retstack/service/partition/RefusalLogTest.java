package dev.retstack.service.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
  private static final long START = Long.MAX_VALUE - 5; // such clocks wrap round

  private final RefusalLog log = new RefusalLog(3);

  @Test
  void eachIsToldWhereThereAreFew() {
    assertThat(log.lines(7, "no chunk", START))
        .containsExactly("partition 3 offset 7 goes to dead letters: no chunk");
    assertThat(log.lines(8, "no chunk", START + 1)).hasSize(1);
  }

  @Test
  void manyAreCounted() {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      lines.addAll(log.lines(i, "poison", START + i));
    }
    assertThat(lines).hasSize(RefusalLog.LINES + 1);
    assertThat(lines.getLast()).contains("retstack dead-letters list");
    assertThat(log.lines(10_000, "poison", START + RefusalLog.MINUTE_NANOS))
        .containsExactly(
            "partition 3: 9990 more records went to dead letters in the last 60 s",
            "partition 3 offset 10000 goes to dead letters: poison");
    assertThat(log.lines(10_001, "poison", START + RefusalLog.MINUTE_NANOS)).hasSize(1);
  }

  /** Reasons hold names that a producer gave. */
  @Test
  void aReasonIsOneShortLine() {
    String forged = "core a\n10:00:00 WARN all is lost\u2028" + "x".repeat(5_000);
    assertThat(log.lines(0, forged, START).getFirst())
        .hasSizeLessThan(500)
        .contains("core a?10:00:00 WARN all is lost?x")
        .doesNotContain("\n", "\u2028");
  }
}
