package dev.retstack.fleet.zoo;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sites that the engine's translator runs into, and where a hook makes a block begin: on s390x a
 * jump to the next instruction, here a tail call of the neighbour, ends no block. Once such a site
 * is switched off the program must pass it as any other code.
 */
class SplitSitesTest {
  private static final String TAIL = "tail";
  private static final int MOST_BETWEEN_CHANGES = 300;

  @TempDir private Path folder;

  static Stream<Arguments> images() {
    return Zoo.images().stream()
        .filter(image -> image.elf().name().matches("zoo-s390x-.*(nop|patchable)\\.elf"))
        .flatMap(
            image ->
                Stream.of(ProbeKind.JAVA, ProbeKind.NATIVE)
                    .map(probe -> Arguments.of(image, probe)));
  }

  @ParameterizedTest
  @MethodSource("images")
  @Timeout(value = 20, unit = SECONDS, threadMode = SEPARATE_THREAD)
  void aSiteThatWasSplitIsPassedOnceItIsOff(LoadedImage image, ProbeKind probe) {
    Run full = Run.of(image, TAIL);
    for (long step = 10; step < MOST_BETWEEN_CHANGES; step += 30) {
      long between = step;
      int[] changes = {0};
      Run run =
          Run.of(
              image,
              Run.options().withProbe(probe),
              core -> {
                core.trace(TraceSettings.standard().withOn(changes[0]++ % 2 == 0));
                return between;
              },
              TAIL);
      assertThat(run.ending()).isEqualTo(full.ending());
      assertThat(run.output()).isEqualTo(full.output());
      assertThat(run.instructions()).as("virtual time").isEqualTo(full.instructions());
      assertThat(run.records().size()).isLessThan(full.records().size());
    }
  }

  /** gcc probes the pages of a great frame by a loop, which stands between beginning and nop. */
  @ParameterizedTest
  @ValueSource(strings = {"-m64", "-m32"})
  void aNopBehindALoopInThePrologueIsEnteredThere(String width) throws Exception {
    Path source =
        Files.writeString(
            folder.resolve("great.c"),
            """
            #ifdef __x86_64__
            #define EXIT "mov $60, %eax; xor %edi, %edi; syscall"
            #else
            #define EXIT "mov $1, %eax; xor %ebx, %ebx; int $0x80"
            #endif
            __attribute__((noinline)) int leaf(char *x) { return *x * 3; }
            __attribute__((noinline)) int great(int x) {
              char room[70000];
              room[x] = (char) x;
              return leaf(room + x) + leaf(room + x + 1);
            }
            void _start(void) {
              volatile int sum = 0;
              for (int i = 0; i < 5; i++) sum += great(i);
              __asm__ volatile(EXIT);
            }
            """);
    List<String> flags =
        List.of("-O2", width, "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie");
    List<String> trace = List.of("-fstack-clash-protection", "-pg", "-mrecord-mcount");
    List<String> arguments = new ArrayList<>(flags);
    arguments.addAll(trace);
    arguments.addAll(List.of("-mnop-mcount", source.toString()));
    LoadedImage image =
        LoadedImage.load(
            GuestCompiler.X86_64
                .assumeInstalled()
                .compile(folder.resolve("great.elf"), arguments.toArray(String[]::new)));
    Run java = run(image, ProbeKind.JAVA, TraceSettings.standard());
    Run inC = run(image, ProbeKind.NATIVE, TraceSettings.standard());
    Records.assertSame(java, inC);
    assertThat(inC.counts()).isEqualTo(Map.of("_start", 1L, "great", 5L, "leaf", 10L));
    assertThat(inC.tree().lines()).contains("  great", "    leaf").doesNotContain("leaf", "great");
    RecordBatch records = inC.records();
    Set<Long> framePointers = new TreeSet<>();
    for (int i = 0; i < records.size(); i++) {
      if (image.elf().functionAt(records.selfPc[i]).orElseThrow().name().equals("great")) {
        framePointers.add(records.fp[i]);
      }
    }
    assertThat(framePointers).as("of its caller, at entry and at exit").hasSize(1);
  }

  private static Run run(LoadedImage image, ProbeKind probe, TraceSettings settings) {
    CoreOptions options = Run.options().withProbe(probe).withTrace(settings);
    Run run = Run.of(image, options, 1_000_000, core -> {});
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    return run;
  }
}
