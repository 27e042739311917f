package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Traced functions that read return addresses, their own and those of their callers ({@code
 * guest/unwind/readers.c}): they find the true ones, and no exit is lost.
 */
final class ReadersTest {
  private static final Path SOURCE = Zoo.GUEST.resolve("unwind/readers.c");

  private static final long SEED = Seeds.fresh();

  private static final String PROGRAM = "reading_ticks";

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
    "mips-linux-gnu-gcc, -O0 -pg",
    "mips-linux-gnu-gcc, -O2 -pg",
    "mipsel-linux-gnu-gcc, -Os -pg -mmcount-ra-address -mno-abicalls -fno-pic",
    "mips64-linux-gnuabi64-gcc, -O1 -pg",
    "m68k-linux-gnu-gcc, -O0 -pg -DWALKS",
    "m68k-linux-gnu-gcc, -O2 -pg -DWALKS -fno-omit-frame-pointer",
    "m68k-linux-gnu-gcc, -O2 -fpatchable-function-entry=3",
    "m68k-linux-gnu-gcc, -Os -fpatchable-function-entry=3 -DWALKS -fno-omit-frame-pointer",
    "clang --target=arm-linux-gnueabihf -meabi gnu, -O2 -pg -mthumb",
    "clang --target=arm-linux-gnueabihf -meabi gnu, -O2 -pg -mthumb -DWALKS -fno-omit-frame-pointer",
    "clang --target=arm-linux-gnueabihf -meabi gnu, -O0 -pg -mthumb -DWALKS",
    "clang --target=arm-linux-gnueabihf -meabi gnu, -O1 -pg -marm -DWALKS -fno-omit-frame-pointer",
    "x86_64-linux-gnu-gcc, -O2 -pg -mfentry -DWALKS -DUNTRACED -fno-omit-frame-pointer",
    "i686-linux-gnu-gcc, -O0 -pg -DWALKS -DUNTRACED",
    "aarch64-linux-gnu-gcc, -O2 -pg -DWALKS -DUNTRACED",
    "riscv64-linux-gnu-gcc, -O1 -pg -DWALKS -DUNTRACED -fno-omit-frame-pointer",
    "s390x-linux-gnu-gcc, -O2 -pg -DWALKS -DUNTRACED -mbackchain",
    "powerpc-linux-gnu-gcc, -O2 -pg -DWALKS -DUNTRACED",
    "powerpc64le-linux-gnu-gcc, -O2 -pg -DWALKS -DUNTRACED",
    "m68k-linux-gnu-gcc, -O1 -pg -DWALKS -DUNTRACED -fno-omit-frame-pointer",
    "clang, -O2 -pg -mfentry",
    "clang, -O2 -fpatchable-function-entry=5 -DWALKS -fno-omit-frame-pointer",
  })
  void theyFindTheTrueOnes(String compiler, String flags) throws Exception {
    List<String> command = List.of(compiler.split(" "));
    assumeTrue(GuestCompiler.installed(command.getFirst()), "skipped: no " + compiler);
    List<String> arguments = new ArrayList<>(command.subList(1, command.size()));
    arguments.addAll(List.of(flags.split(" ")));
    arguments.addAll(List.of("-w", "-static", SOURCE.toString()));
    Path file = folder.resolve("readers");
    GuestCompiler.compileWith(command.getFirst(), file, arguments.toArray(String[]::new));
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

  /** Its handler is called by the controller of interrupts, and returns to it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "x86_64-mcount-O2",
        "x86_64-fentry-O1",
        "i386-patchable-O2",
        "aarch64-mcount-O2",
        "arm-mcount-O1",
        "riscv64-mcount-O0",
        "riscv32-patchable-O2",
        "ppc32-mcount-O2",
        "ppc64le-patchable-O2",
        "s390x-fentry-O2",
        "mips-mcount-O2",
        "m68k-patchable-O2",
        "arm-thumb-mcount-O2",
        "sparc-mcount-O2"
      })
  void aHandlerOfInterruptsFindsTheTrueOne(String form) throws Exception {
    Files.writeString(
        folder.resolve("reading_ticks.c"),
        """
        #include "zoo.h"
        static volatile unsigned long ticks, first;
        TRACED unsigned long tick(unsigned long frame, unsigned long number) {
          unsigned long to = (unsigned long)__builtin_return_address(0);
          (void)number;
          if (ticks == 0) first = to;
          if (to == first) ticks++;
          return frame;
        }
        TRACED void step(volatile unsigned long *at) { *at += 1; }
        ZOO_PROGRAM(reading_ticks, 0) {
          unsigned long steps = 0;
          (void)argument;
          while (ticks < 20) step(&steps);
          return steps == 0;
        }
        """);
    String said =
        GuestScript.build(
            Zoo.GUEST, Map.of("ZOO_FLAGS", "-w"), List.of("--sources", folder.toString(), form));
    assumeTrue(said.startsWith("built: "), "skipped: " + said);
    LoadedImage image = LoadedImage.load(folder.resolve("zoo-" + form + ".elf"));
    CoreOptions options =
        Run.options()
            .withTimers(List.of(new InterruptTimer(500, "tick")))
            .withInstructionLimit(1_000_000);
    Run java = Run.of(image, options.withProbe(ProbeKind.JAVA), 1_000_000, core -> {}, PROGRAM);
    assertThat(java.ending().detail()).isEqualTo("exited with code 0");
    assertThat(count(java, RecordBatch.EXIT)).isEqualTo(count(java, RecordBatch.ENTRY));
    Run inC = Run.of(image, options.withProbe(ProbeKind.NATIVE), 1_000_000, core -> {}, PROGRAM);
    assertThat(inC.ending()).isEqualTo(java.ending());
    Records.assertSame(java, inC);
  }

  private static long count(Run run, byte kind) {
    RecordBatch records = run.records();
    return IntStream.range(0, records.size()).filter(i -> records.kind[i] == kind).count();
  }
}
