package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.probe.nativec.NativeLibrary;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Differential: each probe is the oracle of the other. */
class ProbesTest {
  static Stream<Zoo.Case> cases() {
    return Zoo.cases();
  }

  /** Some programs of each ISA, all in turn. */
  static Stream<Zoo.Case> someOfEachIsa() {
    Set<String> images = EachIsa.names();
    return cases()
        .filter(zoo -> images.contains(zoo.image().elf().name()) && EachIsa.isOfSome(zoo));
  }

  @Test
  void theProbeInCWasBuilt() {
    assertThat(NativeLibrary.whyNot()).isEmpty();
  }

  static Stream<Zoo.Case> casesOfEachIsaAndSomeOfTheOthers() {
    Set<String> images = EachIsa.names();
    return cases()
        .filter(zoo -> images.contains(zoo.image().elf().name()) || EachIsa.isOfSome(zoo));
  }

  @ParameterizedTest
  @MethodSource("casesOfEachIsaAndSomeOfTheOthers")
  void allProbesMakeTheSameRecords(Zoo.Case zoo) {
    same(zoo, Run.options(), 1_000_000);
  }

  @ParameterizedTest
  @MethodSource("someOfEachIsa")
  void alsoInShortSlicesWithASmallRingAndAFullStack(Zoo.Case zoo) {
    CoreOptions small = Run.options().withRecordsPerChunk(5).withRetStackLimit(9);
    same(zoo, small.withCheckReturns(true), 97);
  }

  /** A seed stands for the lengths; {@code -Dretstack.seed=S} chooses it. */
  @ParameterizedTest
  @MethodSource("someOfEachIsa")
  void alsoWhereverTheyStop(Zoo.Case zoo) {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    CoreOptions options =
        Run.options()
            .withRecordsPerChunk(1 + random.nextInt(1 << random.nextInt(1, 13)))
            .withRetStackLimit(1 + random.nextInt(1 << random.nextInt(1, 12)));
    try {
      same(zoo, options, 1 + random.nextInt(1 << random.nextInt(4, 17)));
    } catch (AssertionError e) {
      throw new AssertionError(zoo + ": reproduce with -Dretstack.seed=" + seed, e);
    }
  }

  /** The canary: a record that differs in one bit is found, wherever it stands. */
  @Test
  void aRecordThatDiffersInOneBitIsFound() {
    RecordBatch records = Run.of(Zoo.images().getFirst(), "sort").records();
    SplittableRandom random = new SplittableRandom(7);
    for (int round = 0; round < 100; round++) {
      RecordBatch other = new RecordBatch(records.size());
      other.addAll(records, 0, records.size());
      int at = random.nextInt(records.size());
      long bit = 1L << random.nextInt(Long.SIZE);
      switch (round % 6) {
        case 0 -> other.kind[at] ^= 1;
        case 1 -> other.time[at] ^= bit;
        case 2 -> other.depth[at] ^= 1 << random.nextInt(Integer.SIZE);
        case 3 -> other.selfPc[at] ^= bit;
        case 4 -> other.fromPc[at] ^= bit;
        default -> other.fp[at] ^= bit;
      }
      assertThat(Records.firstDifference(records, other)).isEqualTo(at);
    }
  }

  private static void same(Zoo.Case zoo, CoreOptions options, long slice) {
    Run java = run(zoo, options.withProbe(ProbeKind.JAVA), slice);
    Run inC = run(zoo, options.withProbe(ProbeKind.NATIVE), slice);
    Records.assertSame(java, inC);
    assertThat(inC.ending()).isEqualTo(java.ending());
    assertThat(inC.output()).isEqualTo(java.output());
    assertThat(inC.instructions()).isEqualTo(java.instructions());
    assertThat(inC.overruns()).isEqualTo(java.overruns());
    assertThat(inC.unhijackable()).isEqualTo(java.unhijackable());
  }

  private static Run run(Zoo.Case zoo, CoreOptions options, long slice) {
    return Run.of(zoo.image(), options, slice, core -> {}, zoo.program());
  }
}
