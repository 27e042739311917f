package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.ValueRequest;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.ValuesDepth;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Arguments and return values: fib(n) calls fib(n - 1) and fib(n - 2), and returns their sum. */
class ValuesTest {
  private static final TraceSettings FIB =
      TraceSettings.standard()
          .withArguments(List.of(ValueRequest.parseArguments("fib@arg1/d")))
          .withReturns(List.of(ValueRequest.parseReturn("fib/x")));

  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  @ParameterizedTest
  @MethodSource("images")
  void argumentsAndResultsOfFibAreThoseOfFib(LoadedImage image) {
    Run full = Run.of(image, "fib");
    for (int batch : new int[] {3, 4_096}) {
      Run java = run(image, ProbeKind.JAVA, FIB, batch);
      Run inC = run(image, ProbeKind.NATIVE, FIB, batch);
      Records.assertSame(java, inC);
      RecordBatch calls = new RecordBatch(full.records().size());
      checkFib(image, inC.records(), calls);
      Records.assertSame("full trace", full.records(), "calls with values", calls);
    }
  }

  /** Each value against what the values of the calls around it say. */
  private static void checkFib(LoadedImage image, RecordBatch all, RecordBatch calls) {
    boolean hasArguments = !Zoo.card(image).arguments().isEmpty();
    Deque<Long> open = new ArrayDeque<>();
    int results = 0;
    for (int i = 0; i < all.size(); i++) {
      if (all.kind[i] == RecordBatch.VALUES) {
        continue;
      }
      calls.addAll(all, i, i + 1);
      boolean fib = image.elf().functionAt(all.selfPc[i]).orElseThrow().name().equals("fib");
      boolean entry = all.kind[i] == RecordBatch.ENTRY;
      boolean valued = i + 1 < all.size() && all.kind[i + 1] == RecordBatch.VALUES;
      assertThat(valued).as("record %d", i).isEqualTo(fib && (hasArguments || !entry));
      if (!fib) {
        continue;
      }
      if (valued) {
        assertThat(all.time[i + 1]).isEqualTo(all.time[i]);
        int format = entry ? ValuesDepth.SIGNED : ValuesDepth.HEX;
        assertThat(all.depth[i + 1]).isEqualTo(ValuesDepth.of(0, 1, format));
      }
      if (entry) {
        long n = hasArguments ? (int) all.selfPc[i + 1] : 0;
        if (hasArguments && !open.isEmpty()) {
          assertThat(open.peek() - n).isIn(1L, 2L);
        }
        open.push(n);
      } else {
        long n = open.pop();
        long result = (int) all.selfPc[i + 1];
        if (hasArguments) {
          assertThat(result).isEqualTo(fib(n));
        }
        assertThat(result).isIn(0L, 1L, 2L, 3L, 5L, 8L);
        results++;
      }
    }
    assertThat(results).isEqualTo(25);
  }

  private static long fib(long n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  private static Run run(LoadedImage image, ProbeKind probe, TraceSettings settings, int batch) {
    CoreOptions options = Run.options().withProbe(probe).withRecordsPerChunk(batch);
    return Run.of(image, options.withTrace(settings), 997, core -> {}, "fib");
  }

  @Test
  void whatCannotBeDoneIsRefusedWithTheCure() {
    LoadedImage image =
        SettingsTest.images()
            .filter(i -> i.isa().name().equals("aarch64"))
            .findFirst()
            .orElseThrow();
    try (Core core = Core.open(image, Run.options().withRecordsPerChunk(2))) {
      assertThat(core.trace(FIB).refused())
          .anyMatch(why -> why.contains("need chunks of 3 records: these hold 2"))
          .anyMatch(why -> why.contains("mcount (aarch64) show 0") && why.contains("compile with"));
    }
  }
}
