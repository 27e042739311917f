package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.testing.Seeds;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Coroutines that a signal handler switches ({@code guest/unwind/preempted.c}), and coroutines in
 * threads ({@code guest/unwind/fibers.c}): each is a separate task.
 */
final class PreemptedTest {
  private static final Path PREEMPTED = Zoo.GUEST.resolve("unwind/preempted.c");
  private static final Path FIBERS = Zoo.GUEST.resolve("unwind/fibers.c");
  private static final long SEED = Seeds.fresh();
  private static final int CALLS = 4_000;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -O2 -pg -DSTACKS=0",
    "x86_64-linux-gnu-gcc, -O0 -pg -DSTACKS=1",
    "x86_64-linux-gnu-gcc, -O1 -pg -mfentry -DSTACKS=2",
    "x86_64-linux-gnu-gcc, -O2 -fpatchable-function-entry=5 -DSTACKS=3 -DQUIET",
    "i686-linux-gnu-gcc, -O2 -pg -DSTACKS=2",
    "aarch64-linux-gnu-gcc, -O2 -pg -DSTACKS=0",
    "aarch64-linux-gnu-gcc, -O2 -fpatchable-function-entry=2 -DSTACKS=3 -DQUIET",
    "arm-linux-gnueabihf-gcc, -O2 -pg -marm -DSTACKS=1",
    "riscv64-linux-gnu-gcc, -O1 -pg -DSTACKS=2",
    "s390x-linux-gnu-gcc, -O2 -pg -mfentry -DSTACKS=3",
    "powerpc-linux-gnu-gcc, -O2 -pg -DSTACKS=0",
    "powerpc64le-linux-gnu-gcc, -O2 -pg -DSTACKS=1",
    "mips-linux-gnu-gcc, -O2 -pg -mno-abicalls -fno-pic -DSTACKS=2",
    "m68k-linux-gnu-gcc, -O1 -pg -DSTACKS=3",
  })
  void eachWaitsInItsHandler(String compiler, String flags) throws Exception {
    LoadedImage image = compile(compiler, flags, "-DCALLS=" + CALLS, PREEMPTED.toString());
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    assertThat(untraced.output()).endsWith(" switched\n");
    Run java = Run.of(image, Run.options().withProbe(ProbeKind.JAVA), 1_000_000, core -> {});
    assertThat(java.output()).isEqualTo(untraced.output());
    TaskTrees trees = TaskTrees.of(java);
    List<String> coroutine = new ArrayList<>(List.of("coroutine"));
    coroutine.addAll(Collections.nCopies(CALLS, "  work"));
    assertThat(trees.tasks().values().stream().map(TreeText::lines))
        .hasSize(4)
        .filteredOn(lines -> !lines.getFirst().equals("main"))
        .allSatisfy(lines -> assertThat(lines).isEqualTo(coroutine));
    List<List<String>> handlers = trees.interrupts().stream().map(TreeText::lines).toList();
    if (flags.contains("QUIET")) {
      assertThat(handlers).isNotEmpty().allSatisfy(lines -> assertThat(lines).isEmpty());
    } else {
      assertThat(handlers)
          .contains(List.of("tick", "  switch_to"))
          .allSatisfy(lines -> assertThat(lines).startsWith("tick").hasSizeLessThan(3));
    }

    alsoInCAndInSlices(java);
  }

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -O2 -pg",
    "x86_64-linux-gnu-gcc, -O0 -pg -DTICKS",
    "x86_64-linux-gnu-gcc, -O1 -pg -mfentry -DTICKS",
    "i686-linux-gnu-gcc, -O2 -pg -DTICKS",
    "aarch64-linux-gnu-gcc, -O2 -pg -DTICKS",
    "arm-linux-gnueabihf-gcc, -O2 -fpatchable-function-entry=2",
    "riscv64-linux-gnu-gcc, -O1 -pg -DTICKS",
    "s390x-linux-gnu-gcc, -O2 -pg -DTICKS",
    "powerpc-linux-gnu-gcc, -O2 -pg",
    "powerpc64le-linux-gnu-gcc, -O2 -pg -DTICKS",
    "mips-linux-gnu-gcc, -O2 -pg -mno-abicalls -fno-pic -DTICKS"
  })
  void eachIsATaskBesideItsThread(String compiler, String flags) throws Exception {
    LoadedImage image =
        compile(compiler, flags + " -pthread -fno-optimize-sibling-calls", FIBERS.toString());
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    assertThat(untraced.output()).startsWith("sum ");
    Run java = Run.of(image, Run.options().withProbe(ProbeKind.JAVA), 1_000_000, core -> {});
    assertThat(java.output()).isEqualTo(untraced.output());
    TaskTrees trees = TaskTrees.of(java);
    assertThat(trees.tasks().values().stream().map(TreeText::lines))
        .filteredOn(lines -> lines.getFirst().equals("fiber"))
        .hasSize(12)
        .allSatisfy(lines -> assertThat(lines).isEqualTo(fiber()));
    assertThat(trees.tasks().values().stream().map(TreeText::lines))
        .filteredOn(lines -> !lines.getFirst().equals("fiber"))
        .containsExactlyInAnyOrder(
            List.of("main"), List.of("thread"), List.of("thread"), List.of("thread"));
    assertThat(trees.interrupts().stream().map(TreeText::lines))
        .allSatisfy(lines -> assertThat(lines).isEqualTo(List.of("tick")));
    assertThat(trees.interrupts().isEmpty()).isNotEqualTo(flags.contains("TICKS"));
    alsoInCAndInSlices(java);
  }

  private static List<String> fiber() {
    List<String> lines = new ArrayList<>(List.of("fiber"));
    for (int round = 0; round < 5; round++) {
      String indent = "  ";
      for (int depth = 4; depth > 0; depth--) {
        lines.add(indent + "deep");
        indent += "  ";
        lines.add(indent + "work");
      }
      lines.add(indent + "deep");
      lines.add(indent + "  yield");
    }
    return lines;
  }

  private LoadedImage compile(String compiler, String flags, String... more) throws Exception {
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    List<String> arguments = new ArrayList<>(List.of(flags.split(" ")));
    arguments.addAll(List.of("-w", "-static"));
    arguments.addAll(List.of(more));
    Path file = folder.resolve("program");
    GuestCompiler.compileWith(compiler, file, arguments.toArray(String[]::new));
    return LoadedImage.load(file).requireCallSites();
  }

  private static void alsoInCAndInSlices(Run java) {
    Run inC =
        Run.of(java.image(), Run.options().withProbe(ProbeKind.NATIVE), 1_000_000, core -> {});
    Records.assertSame(java, inC);
    SplittableRandom random = new SplittableRandom(SEED);
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run some =
          Run.withoutKeyframes(
              java.image(),
              Run.options().withProbe(probe).withRecordsPerChunk(1 + random.nextInt(2_000)),
              core -> 1 + random.nextInt(1 << random.nextInt(1, 14)));
      String how = probe + ", -Dretstack.seed=" + SEED;
      Records.assertSame("one slice", java.records(), how, some.records());
    }
  }
}
