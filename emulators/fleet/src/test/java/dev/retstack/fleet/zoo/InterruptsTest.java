package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a probe is told of interrupts, whatever runs in them. */
class InterruptsTest {
  static Stream<Zoo.Case> cases() {
    return Zoo.cases().filter(zoo -> zoo.program().equals("sort"));
  }

  /**
   * Interrupts at random times, in which the program just goes on: what is entered there is on a
   * ret_stack of its own, whatever returns there goes where it would have. Beside a call site the
   * probes stop in different places, so records are compared where a controller chooses the place.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void bothProbesRecordThemAndTheProgramDoesWhatItDid(Zoo.Case zoo) {
    long seed = Seeds.fresh();
    Run plain = Run.of(zoo.image(), zoo.program());
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run run = interrupted(zoo, plain, probe, seed);
      String again = probe + ", -Dretstack.seed=" + seed;
      assertThat(run.output()).as(again).isEqualTo(plain.output());
      assertThat(run.ending()).as(again).isEqualTo(plain.ending());
      int entered = 0;
      int left = 0;
      for (int i = 0; i < run.records().size(); i++) {
        entered += run.records().kind[i] == RecordBatch.INTERRUPT_ENTER ? 1 : 0;
        left += run.records().kind[i] == RecordBatch.INTERRUPT_EXIT ? 1 : 0;
        assertThat(left).as(again).isLessThanOrEqualTo(entered);
      }
    }
  }

  private static Run interrupted(Zoo.Case zoo, Run plain, ProbeKind probe, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] next = {1}; // the core has its buffer from its first run on
    CoreOptions options =
        Run.options()
            .withProbe(probe)
            .withRecordsPerChunk(1 << 16) // a full one stops cores in the tracer's code as well
            .withInstructionLimit(plain.instructions() + 1);
    return Run.of(
        zoo.image(),
        options,
        core -> {
          while (core.instructions() >= next[0]) {
            next[0] += 1 + random.nextInt(2_000);
            interrupt(core, random);
          }
          return next[0] - core.instructions();
        },
        zoo.program());
  }

  private static void interrupt(Core core, SplittableRandom random) {
    if (random.nextBoolean()) {
      core.probe().interruptEnter(random.nextInt(256), 0x1234);
    } else {
      core.probe().interruptExit(0x1234);
    }
  }
}
