package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.schema.codec.RecordBatch;
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
   * ret_stack of its own, whatever returns there goes where it would have.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void bothProbesRecordThemAndTheProgramDoesWhatItDid(Zoo.Case zoo) {
    long seed = Long.getLong("retstack.seed", System.nanoTime());
    Run plain = Run.of(zoo.image(), zoo.program());
    Run java = interrupted(zoo, plain, ProbeKind.JAVA, seed);
    Run inC = interrupted(zoo, plain, ProbeKind.NATIVE, seed);
    String again = "-Dretstack.seed=" + seed;
    Records.assertSame("Java " + again, withoutStackPointers(java), "C", withoutStackPointers(inC));
    assertThat(java.output()).as(again).isEqualTo(plain.output());
    assertThat(java.ending()).as(again).isEqualTo(plain.ending());
    int open = 0;
    for (int i = 0; i < java.records().size(); i++) {
      int kind = java.records().kind[i];
      open += kind == RecordBatch.INTERRUPT_ENTER ? 1 : kind == RecordBatch.INTERRUPT_EXIT ? -1 : 0;
      assertThat(open).isNotNegative();
    }
  }

  /** In front of a call of the counting function, where only one probe makes it, sp may differ. */
  private static RecordBatch withoutStackPointers(Run run) {
    for (int i = 0; i < run.records().size(); i++) {
      if (run.records().kind[i] == RecordBatch.INTERRUPT_ENTER) {
        run.records().retP[i] = 0;
      }
    }
    return run.records();
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
