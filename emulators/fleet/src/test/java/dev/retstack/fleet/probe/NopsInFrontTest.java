package dev.retstack.fleet.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.machine.loader.FoundSite;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.SiteFinder;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sites that begin in front of their function (gcc -fpatchable-function-entry=N,M): they have the
 * function's name, also behind a label of assembly that has no size.
 */
class NopsInFrontTest {
  private static final String SOURCE =
      """
      #if defined(__x86_64__)
      #define EXIT "mov $60, %eax; xor %edi, %edi; syscall"
      #elif defined(__riscv)
      #define EXIT "li a7, 93; li a0, 0; ecall"
      #else
      #define EXIT "mov x8, #93; mov x0, #0; svc #0"
      #endif
      __asm__(".text\\n.globl tiny\\n.type tiny, %function\\ntiny: ret\\n");
      __attribute__((noinline)) int leaf(int x) { return x * 3; }
      __attribute__((noinline)) int middle(int x) { return leaf(x) + leaf(x + 1); }
      void _start(void) {
        volatile int sum = 0;
        for (int i = 0; i < 5; i++) sum += middle(i);
        __asm__ volatile(EXIT);
      }
      """;

  @TempDir private Path dir;

  static Stream<Arguments> compilers() {
    return Arrays.stream(GuestCompiler.values())
        .flatMap(
            compiler ->
                Stream.of("5,2", "4,4", "8,3", "3,1").map(nops -> Arguments.of(compiler, nops)));
  }

  @ParameterizedTest
  @MethodSource("compilers")
  void haveTheNameOfTheFunctionBehindThem(GuestCompiler compiler, String nops) throws Exception {
    Path source = Files.writeString(dir.resolve("front.c"), SOURCE);
    LoadedImage image =
        LoadedImage.load(
            compiler
                .assumeInstalled()
                .compile(
                    dir.resolve("front.elf"),
                    "-O2",
                    "-static",
                    "-nostdlib",
                    "-ffreestanding",
                    "-fno-pie",
                    "-no-pie",
                    "-fno-omit-frame-pointer",
                    "-fpatchable-function-entry=" + nops,
                    source.toString()));
    assertThat(SiteFinder.find(image))
        .extracting(FoundSite::function)
        .containsExactlyInAnyOrder("leaf", "middle", "_start");
    assertThat(SiteFinder.find(image)).allMatch(site -> site.offset() < 0);
    SiteCatalog catalog = SiteCatalog.of(image);
    assertThat(catalog.has(FunctionPattern.parse("leaf"))).isTrue();
    assertThat(catalog.has(FunctionPattern.parse("tiny"))).isFalse();
    TraceSettings all = TraceSettings.standard();
    for (ProbeKind probe : new ProbeKind[] {ProbeKind.JAVA, ProbeKind.NATIVE}) {
      assertThat(entered(image, probe, all)).containsOnly("_start", "leaf", "middle");
      assertThat(entered(image, probe, all.withFilters(FunctionPattern.parseAll("leaf"))))
          .containsOnly("leaf");
      assertThat(entered(image, probe, all.withNotraces(FunctionPattern.parseAll("leaf"))))
          .containsOnly("_start", "middle");
    }
  }

  /** clang writes one nop of the whole length, not that of gcc and the kernel. */
  @ParameterizedTest
  @ValueSource(strings = {"1", "4", "5", "6", "7", "8", "9", "12", "5,2"})
  void clangsNopsAreKnown(String nops) throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed("clang"), "skipped: no clang");
    Path source = Files.writeString(dir.resolve("front.c"), SOURCE);
    Path object =
        GuestCompiler.compileWith(
            "clang",
            dir.resolve("front.o"),
            "--target=x86_64-linux-gnu",
            "-c",
            "-O2",
            "-ffreestanding",
            "-fno-pie",
            "-fpatchable-function-entry=" + nops,
            source.toString());
    LoadedImage image =
        LoadedImage.load(
            GuestCompiler.X86_64
                .assumeInstalled()
                .compile(
                    dir.resolve("front.elf"),
                    "-static",
                    "-nostdlib",
                    "-no-pie",
                    object.toString()));
    for (ProbeKind probe : new ProbeKind[] {ProbeKind.JAVA, ProbeKind.NATIVE}) {
      assertThat(entered(image, probe, TraceSettings.standard()))
          .containsOnly("_start", "leaf", "middle");
    }
  }

  private static Set<String> entered(LoadedImage image, ProbeKind probe, TraceSettings settings) {
    Run run =
        Run.of(
            image,
            Run.options().withProbe(probe).withTrace(settings),
            1_000_000,
            core -> {},
            "front");
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    return run.counts().keySet();
  }
}
