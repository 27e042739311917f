package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every program of the zoo on every ISA, and some of them on every convention: the golden level.
 * {@code -Dretstack.zoo=all} runs all on all.
 */
class ZooTest {
  private static final int CHUNK = 3000;

  /** Images that run in slices of every length, and in all programs. */
  private static final Set<String> EACH_ISA = EachIsa.names();

  private static int enginesBefore;
  private static int hooksBefore;

  /** Every program on an image of each ISA, and on the others some. */
  static Stream<Zoo.Case> cases() {
    return Zoo.cases()
        .filter(zoo -> EACH_ISA.contains(zoo.image().elf().name()) || EachIsa.isOfSome(zoo));
  }

  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  static Stream<LoadedImage> imagesOfEachIsa() {
    return EachIsa.images().stream();
  }

  @BeforeAll
  static void countNativeResources() {
    enginesBefore = Unicorn.openEngines();
    hooksBefore = Unicorn.liveHooks();
  }

  @AfterAll
  static void nothingLeaks() {
    assertThat(Unicorn.openEngines()).isEqualTo(enginesBefore);
    assertThat(Unicorn.liveHooks()).isEqualTo(hooksBefore);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyCheckOfTheConformanceSuitePasses(Zoo.Case zoo) {
    Conformance conformance = new Conformance(zoo);
    for (Check check : conformance.checks()) {
      boolean ofIsa = EACH_ISA.contains(zoo.image().elf().name());
      boolean some = EachIsa.isOfSome(zoo);
      if ((check == Check.SLICES && !(ofIsa && some && isShortInSlices(zoo)))
          || (check == Check.CLOCK && !some)) {
        continue; // they run the program nine times, and with a hook on each instruction
      }
      assertThat(conformance.cell(check).fault()).as(check.sentence()).isEmpty();
    }
  }

  /** The deepest of the programs takes as long as all others: one image has it. */
  private static boolean isShortInSlices(Zoo.Case zoo) {
    return EachIsa.ALL
        || !zoo.program().equals("deep")
        || zoo.image().equals(Zoo.images().getFirst());
  }

  @ParameterizedTest
  @MethodSource("imagesOfEachIsa")
  void theWholeZooRunsInOneGo(LoadedImage image) {
    Map<String, Long> expected = new TreeMap<>();
    Zoo.programs(image)
        .forEach(
            p -> Zoo.counts(p).forEach((name, calls) -> expected.merge(name, calls, Long::sum)));
    Run run = Run.of(image);
    assertThat(run.ending().exitCode()).isZero();
    assertThat(run.counts()).isEqualTo(expected);
    Map<String, Long> each = new TreeMap<>();
    Zoo.programs(image).forEach(p -> count(Run.of(image, p).records(), each));
    assertThat(count(run.records(), new TreeMap<>())).isEqualTo(each); // whatever ran before
    everyCodecGivesBack(run.records());
  }

  /** Records by kind and function. */
  private static Map<String, Long> count(RecordBatch records, Map<String, Long> into) {
    for (int i = 0; i < records.size(); i++) {
      into.merge("%d %x".formatted(records.kind[i], records.selfPc[i]), 1L, Long::sum);
    }
    return into;
  }

  /** In chunks that begin anywhere in the program. */
  private static void everyCodecGivesBack(RecordBatch all) {
    for (int from = 0; from < all.size(); from += CHUNK) {
      RecordBatch part = new RecordBatch(Math.min(CHUNK, all.size() - from));
      part.addAll(all, from, from + part.capacity());
      for (String id : Codecs.ids()) {
        RecordBatch back = new RecordBatch(part.size());
        assertThatCode(
                () -> Codecs.byId(id).decode(Codecs.byId(id).encode(part), part.size(), back))
            .as("%s, records from %s", id, from)
            .doesNotThrowAnyException();
        assertThat(back.equals(part)).as("%s, records from %s", id, from).isTrue();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void timesNeverDecreaseAndExitsRepeatTheirEntries(LoadedImage image) {
    RecordBatch r = Run.of(image, "sort").records();
    int[] entryAt = new int[64];
    for (int i = 0; i < r.size(); i++) {
      assertThat(r.time[i]).isGreaterThanOrEqualTo(i == 0 ? 0 : r.time[i - 1]);
      if (r.kind[i] == RecordBatch.ENTRY) {
        entryAt[r.depth[i]] = i;
      } else {
        int e = entryAt[r.depth[i]];
        assertThat(new long[] {r.selfPc[i], r.fromPc[i], r.retP[i], r.fp[i]})
            .containsExactly(r.selfPc[e], r.fromPc[e], r.retP[e], r.fp[e]);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void aPlantedCorruptionShowsAsAnotherFramePointerAtTheExit(LoadedImage image) {
    RecordBatch r = Run.of(image, "corrupt").records();
    long difference = 0;
    long[] entered = new long[64];
    int wrong = 0;
    for (int i = 0; i < r.size(); i++) {
      if (r.kind[i] == RecordBatch.ENTRY) {
        entered[r.depth[i]] = r.fp[i];
      } else if (r.fp[i] != entered[r.depth[i]]) {
        wrong++;
        difference = r.fp[i] - entered[r.depth[i]];
      }
    }
    boolean checked = Zoo.checksFramePointers(image);
    assertThat(wrong).isEqualTo(checked ? 1 : 0);
    assertThat(difference).isEqualTo(checked ? 64 : 0); // zoo.h: PLANT_WRONG_FRAME_POINTER
  }

  @ParameterizedTest
  @MethodSource("images")
  void aFullRetStackRefusesEntriesAndCountsThem(LoadedImage image) {
    Run whole = Run.of(image, "deep");
    CoreOptions tiny = Run.options().withRetStackLimit(100);
    Run run = Run.of(image, tiny, 1_000_000, core -> {}, "deep");
    assertThat(run.ending()).isEqualTo(whole.ending());
    assertThat(run.overruns()).isPositive();
    assertThat(calls(run) + run.overruns()).isEqualTo(calls(whole));
    assertThat(run.records().size()).isEqualTo(2 * calls(run) + run.overruns());
    Map<String, Long> counts = new TreeMap<>(run.counts());
    for (int i = 0; i < run.records().size(); i++) {
      boolean refused = run.records().kind[i] == RecordBatch.FUNCTION;
      if (refused) {
        long selfPc = run.records().selfPc[i];
        counts.merge(image.elf().functionAt(selfPc).orElseThrow().name(), 1L, Long::sum);
      }
      assertThat(run.records().depth[i] == 100).isEqualTo(refused);
    }
    assertThat(counts).as("per function").isEqualTo(whole.counts());
  }

  private static long calls(Run run) {
    return run.counts().values().stream().mapToLong(n -> n).sum();
  }

  @ParameterizedTest
  @MethodSource("images")
  void aLimitOfInstructionsStopsTheCore(LoadedImage image) {
    Run run =
        Run.of(image, Run.options().withInstructionLimit(5_000), 300, core -> {}, "fib", "30");
    assertThat(run.ending().end()).isEqualTo(CoreEnd.STOPPED);
    assertThat(run.ending().detail()).isEqualTo("limit of 5000 instructions");
    assertThat(run.instructions()).isBetween(5_000L, 5_100L);
  }
}
