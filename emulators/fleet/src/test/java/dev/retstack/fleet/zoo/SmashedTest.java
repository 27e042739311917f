package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Planted buffer overflows (guest/smashed): each is found where it is, and nothing else. */
class SmashedTest {
  private static final Path SMASHED = Zoo.GUEST.resolve("smashed");
  private static final long NO_CODE = 0x40;

  static List<LoadedImage> images() throws IOException {
    return images(SMASHED.resolve("images"));
  }

  private static List<LoadedImage> images(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".elf"))
          .sorted()
          .map(SmashedTest::load)
          .toList();
    }
  }

  private static LoadedImage load(Path file) {
    try {
      return LoadedImage.load(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void thereAreImagesOfFiveIsasAndMore() throws IOException {
    assertThat(images().stream().map(image -> image.isa().name()).distinct().count())
        .isGreaterThanOrEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("images")
  void aReturnIntoATracedFunction(LoadedImage image) {
    Run run = runs(image, "into_function");
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    assertSmashed(run, symbol(image, "smashed_target"));
  }

  @ParameterizedTest
  @MethodSource("images")
  void aReturnIntoCodeThatHasRun(LoadedImage image) {
    Run run = runs(image, "into_block");
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    assertSmashed(run, symbol(image, "seen_before"));
  }

  @ParameterizedTest
  @MethodSource("images")
  void aReturnToWhereNoCodeIs(LoadedImage image) {
    Run run = runs(image, "into_nowhere");
    assertThat(run.ending().end()).isEqualTo(CoreEnd.FAULTED);
    assertSmashed(run, NO_CODE);
  }

  /** The fault tells of it; nothing is looked at before. */
  @ParameterizedTest
  @MethodSource("images")
  void aReturnToWhereNoCodeIsWithoutLookingAtEachBlock(LoadedImage image) {
    for (ProbeKind probe : List.of(ProbeKind.NATIVE, ProbeKind.JAVA)) {
      Run run = run(image, Run.options().withProbe(probe), 1_000_000, "into_nowhere");
      assertSmashed(run, NO_CODE);
      Run unseen = run(image, Run.options().withProbe(probe), 1_000_000, "into_function");
      assertThat(smashed(unseen)).isEmpty();
      assertThat(unseen.ending().detail()).isEqualTo("exited with code 0");
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void longjmpsAndUnwindersSmashNothing(LoadedImage image) {
    assertThat(smashed(runs(image, "jumps"))).isEmpty();
    if (image.elf().symbol("run_unwinder").isPresent()) {
      assertThat(smashed(runs(image, "unwinder"))).isEmpty();
    }
  }

  /** Each way to return, in a register or on the stack; {@code -Dretstack.zoo=all}: all images. */
  @Test
  void todaysCompilersAsWell(@TempDir Path folder) throws Exception {
    Assumptions.assumeTrue(
        GuestCompiler.installed("x86_64-linux-gnu-gcc"), "skipped: no x86_64-linux-gnu-gcc");
    List<String> arguments = new ArrayList<>(List.of(folder.toString()));
    if (!EachIsa.ALL) {
      arguments.addAll(List.of("x86_64-fentry", "mips-mcount", "m68k-patchable", "aarch64-mcount"));
    }
    GuestScript.build(SMASHED, Map.of(), arguments);
    for (LoadedImage image : images(folder)) {
      aReturnIntoATracedFunction(image);
      aReturnIntoCodeThatHasRun(image);
      aReturnToWhereNoCodeIs(image);
      longjmpsAndUnwindersSmashNothing(image);
    }
  }

  /** A return of all functions stands in a thunk, or in the routine that restores registers. */
  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -O1 -pg -mfentry -mfunction-return=thunk",
    "x86_64-linux-gnu-gcc, -O1 -pg -mfunction-return=thunk -static",
    "x86_64-linux-gnu-gcc, -O1 -fpatchable-function-entry=5 -mfunction-return=thunk-inline",
    "x86_64-linux-gnu-gcc, -m32 -O1 -pg -mfunction-return=thunk -static",
    "riscv64-linux-gnu-gcc, -Os -pg -msave-restore -static",
    "riscv64-linux-gnu-gcc, -Os -pg -msave-restore -march=rv64g -mno-relax",
  })
  void aReturnByARoutineOfSeveralFunctions(String compiler, String flags, @TempDir Path folder)
      throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source =
        Files.writeString(
            folder.resolve("shared.c"),
            """
            #include <unistd.h>
            #define TRACED __attribute__((noinline, noclone))
            TRACED void smashed_target(void) { _exit(7); }
            TRACED void fill(void **at, int n) { while (n-- > 0) *at++ = (void *) smashed_target; }
            TRACED int leaf(int n) { return n + 1; }
            TRACED int smashed_victim(int n) { void *room[2]; fill(room, n); return leaf(n) + leaf(2); }
            TRACED int smashed_outer(int n) { char room[400]; fill((void **) room, 9); return smashed_victim(n) + leaf(1); }
            int main(int argc, char **argv) { return argc > 1 ? smashed_outer(20) : smashed_outer(2); }
            """);
    List<String> words = new ArrayList<>(List.of(flags.split(" ")));
    words.addAll(List.of("-fno-stack-protector", "-w", source.toString()));
    LoadedImage image =
        LoadedImage.load(
            GuestCompiler.compileWith(
                compiler, folder.resolve("shared"), words.toArray(String[]::new)));
    CoreOptions checking = Run.options().withCheckReturns(true);
    for (ProbeKind probe : List.of(ProbeKind.NATIVE, ProbeKind.JAVA)) {
      Run run = Run.of(image, checking.withProbe(probe), 1_000_000, core -> {}, "smash");
      assertThat(run.ending().detail()).isEqualTo("exited with code 7");
      assertSmashed(run, symbol(image, "smashed_target"));
      Run clean = Run.of(image, checking.withProbe(probe), 1_000_000, core -> {});
      assertThat(smashed(clean)).isEmpty();
    }
  }

  /** Both probes, any slices: the same records, and the program ends as it does untraced. */
  private static Run runs(LoadedImage image, String program) {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    Run untraced = run(image, Run.options().withTraced(false), 1_000_000, program);
    CoreOptions checking = Run.options().withCheckReturns(true);
    Run java = run(image, checking.withProbe(ProbeKind.JAVA), 1_000_000, program);
    String how = image.isa().name() + " " + program + ": reproduce with -Dretstack.seed=" + seed;
    assertThat(java.ending()).as(how).isEqualTo(untraced.ending());
    assertThat(java.output()).as(how).isEqualTo(untraced.output());
    for (ProbeKind probe : List.of(ProbeKind.NATIVE, ProbeKind.JAVA)) {
      for (int round = 0; round < 3; round++) {
        CoreOptions options = checking.withProbe(probe).withRecordsPerChunk(1 + random.nextInt(40));
        Run again = run(image, options, 1 + random.nextInt(200), program);
        try {
          Records.assertSame("Java", java.records(), probe.toString(), again.records());
        } catch (AssertionError e) {
          throw new AssertionError(how, e);
        }
        assertThat(again.ending()).as(how).isEqualTo(java.ending());
        assertThat(again.instructions()).as(how).isEqualTo(java.instructions());
      }
    }
    return java;
  }

  private static Run run(LoadedImage image, CoreOptions options, long slice, String program) {
    return Run.of(image, options, slice, core -> {}, program);
  }

  private static List<Integer> smashed(Run run) {
    return IntStream.range(0, run.records().size())
        .filter(i -> run.records().kind[i] == RecordBatch.SMASHED)
        .boxed()
        .toList();
  }

  private static void assertSmashed(Run run, long target) {
    RecordBatch r = run.records();
    assertThat(smashed(run)).as(Records.around(r, r.size() - 1)).hasSize(1);
    int at = smashed(run).getFirst();
    assertThat(name(run, r.selfPc[at])).isEqualTo("smashed_victim");
    assertThat(r.fromPc[at]).isEqualTo(target);
    assertThat(name(run, r.fp[at])).isEqualTo("smashed_outer");
    int entry = at;
    while (r.kind[entry] != RecordBatch.ENTRY || r.selfPc[entry] != r.selfPc[at]) {
      entry--;
    }
    assertThat(r.fp[at]).isEqualTo(r.fromPc[entry]);
    assertThat(r.retP[at]).isEqualTo(r.retP[entry]);
    assertThat(r.depth[at]).isEqualTo(r.depth[entry]);
    assertThat(at + 1 == r.size() || r.depth[at + 1] <= r.depth[at]).isTrue();
  }

  private static String name(Run run, long pc) {
    return run.image().elf().functionAt(pc).orElseThrow().name();
  }

  private static long symbol(LoadedImage image, String name) {
    return image.elf().symbol(name).orElseThrow().address();
  }
}
