package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.Seeds;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.loader.GuestCompiler;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Traced functions that read return addresses, their own and those of their callers ({@code
 * guest/unwind/readers.c}): they find the true ones, and no exit is lost.
 */
final class ReadersTest {
  private static final Path SOURCE = Zoo.GUEST.resolve("unwind/readers.c");

  private static final long SEED = Seeds.fresh();

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -O0 -pg -DWALKS",
    "x86_64-linux-gnu-gcc, -O2 -pg -mfentry",
    "x86_64-linux-gnu-gcc, -O2 -pg -DWALKS -fno-omit-frame-pointer",
    "x86_64-linux-gnu-gcc, -O2 -fpatchable-function-entry=5",
    "x86_64-linux-gnu-gcc, -O1 -fpatchable-function-entry=5 -DWALKS -fno-omit-frame-pointer",
    "i686-linux-gnu-gcc, -O2 -pg -DWALKS -fno-omit-frame-pointer",
    "i686-linux-gnu-gcc, -Os -fpatchable-function-entry=5",
    "aarch64-linux-gnu-gcc, -O0 -pg -DWALKS",
    "aarch64-linux-gnu-gcc, -O2 -pg",
    "aarch64-linux-gnu-gcc, -O2 -fpatchable-function-entry=2 -DWALKS -fno-omit-frame-pointer",
    "riscv64-linux-gnu-gcc, -O0 -pg -DWALKS -fno-omit-frame-pointer",
    "riscv64-linux-gnu-gcc, -O2 -pg",
    "riscv64-linux-gnu-gcc, -O2 -fpatchable-function-entry=4",
    "arm-linux-gnueabihf-gcc, -O2 -pg -marm",
    "arm-linux-gnueabihf-gcc, -O2 -pg",
    "arm-linux-gnueabihf-gcc, -O2 -fpatchable-function-entry=2 -marm",
    "arm-linux-gnueabihf-gcc, -O2 -fpatchable-function-entry=2",
    "s390x-linux-gnu-gcc, -O2 -pg -mfentry",
    "s390x-linux-gnu-gcc, -O2 -pg -DWALKS -mbackchain",
    "powerpc-linux-gnu-gcc, -O2 -pg -DWALKS",
    "powerpc-linux-gnu-gcc, -O2 -fpatchable-function-entry=2",
    "powerpc64-linux-gnu-gcc, -O2 -fpatchable-function-entry=2 -DWALKS",
    "powerpc64le-linux-gnu-gcc, -O2 -pg",
    "clang, -O2 -pg -mfentry",
    "clang, -O2 -fpatchable-function-entry=5 -DWALKS -fno-omit-frame-pointer",
  })
  void theyFindTheTrueOnes(String compiler, String flags) throws Exception {
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    List<String> arguments = new ArrayList<>(List.of(flags.split(" ")));
    arguments.addAll(List.of("-w", "-static", SOURCE.toString()));
    Path file = folder.resolve("readers");
    GuestCompiler.compileWith(compiler, file, arguments.toArray(String[]::new));
    LoadedImage image = LoadedImage.load(file).requireCallSites();
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    assertThat(untraced.output()).contains("late asked_late", "left left", "handled handler");
    Run java = Run.of(image, Run.options().withProbe(ProbeKind.JAVA), 1_000_000, core -> {});
    assertThat(java.output()).isEqualTo(untraced.output());
    assertThat(java.ending()).isEqualTo(untraced.ending());
    assertThat(java.unhijackable()).isZero();
    // all return but the one that jumps
    assertThat(count(java, RecordBatch.EXIT)).isEqualTo(count(java, RecordBatch.ENTRY) - 1);
    Run inC = Run.of(image, Run.options().withProbe(ProbeKind.NATIVE), 1_000_000, core -> {});
    assertThat(inC.output()).isEqualTo(untraced.output());
    Records.assertSame(java, inC);
    SplittableRandom random = new SplittableRandom(SEED);
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run some =
          Run.withoutKeyframes(
              image,
              Run.options()
                  .withProbe(probe)
                  .withCheckReturns(random.nextBoolean())
                  .withRecordsPerChunk(1 + random.nextInt(1 << random.nextInt(1, 12))),
              core -> 1 + random.nextInt(1 << random.nextInt(1, 14)));
      String how = probe + ", -Dretstack.seed=" + SEED;
      Records.assertSame("one slice", java.records(), how, some.records());
      assertThat(some.output()).as(how).isEqualTo(untraced.output());
      assertThat(some.instructions()).as(how).isEqualTo(java.instructions());
    }
  }

  private static long count(Run run, byte kind) {
    RecordBatch records = run.records();
    return IntStream.range(0, records.size()).filter(i -> records.kind[i] == kind).count();
  }
}
