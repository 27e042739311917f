package dev.retstack.fleet.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Firmware whose start-up code copies data and functions from ROM, where {@code p_paddr} says that
 * they are, to RAM, where they run.
 */
class RomImagesTest {
  private static final String SOURCE =
      """
      #if defined(__x86_64__)
      #define EXIT(code) __asm__ volatile("mov $60, %%eax; syscall" : : "D"((long)(code)))
      #elif defined(__riscv)
      #define EXIT(code) __asm__ volatile("mv a0, %0; li a7, 93; ecall" : : "r"((long)(code)))
      #else
      #define EXIT(code) __asm__ volatile("mov x0, %0; mov x8, #93; svc #0" : : "r"((long)(code)))
      #endif
      #define COUNTING(name) __asm__(".text; .globl " #name "; .type " #name ", %function; " #name \
                                     ": ret; .size " #name ", . - " #name);
      COUNTING(mcount) COUNTING(_mcount) COUNTING(__fentry__)
      #define UNTRACED __attribute__((no_instrument_function, patchable_function_entry(0)))
      #define FAST __attribute__((noinline, section(".fast")))
      int value = 12;
      int calls;
      FAST int mix(int x) { calls++; return x * 3; }
      FAST int fast(int x) { return mix(x) + mix(x + 1); }
      __attribute__((noinline)) int slow(int x) { return x + 1; }
      int (*volatile run)(int) = fast;
      extern char from[], to[], end[], zero[], zero_end[];
      UNTRACED __attribute__((noinline)) static int once(void) {
        for (volatile char *t = to, *f = from; t != end;) *t++ = *f++;
        for (volatile char *z = zero; z != zero_end;) *z++ = 0;
      #if defined(__riscv)
        __asm__ volatile("fence.i");
      #endif
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += run(i) + slow(i);
        return value + calls + sum;
      }
      UNTRACED void _start(void) {
        once(); // code that ran is overwritten by itself
        EXIT(once());
      }
      """;

  private static final String LAYOUT =
      """
      ENTRY(_start)
      MEMORY { ROM (rx) : ORIGIN = 0x20000000, LENGTH = 256K
               RAM (rwx) : ORIGIN = 0xADDRESS, LENGTH = 128K }
      SECTIONS {
        .text : { *(.text*) *(.rodata*) . = ALIGN(16); } >ROM
        .data : { to = .; *(.fast*) *(.data*) *(.sdata*) *(.got*)
                  . = ALIGN(16); end = .; } >RAM AT>ROM
        from = LOADADDR(.data);
        __patchable_function_entries : { KEEP(*(__patchable_function_entries)) } >ROM
        .bss (NOLOAD) : { zero = .; *(.bss*) *(.sbss*) *(COMMON) . = ALIGN(16); zero_end = .; } >RAM
        /DISCARD/ : { *(.comment) *(.eh_frame*) *(.note*) }
      }
      """;

  @TempDir private Path dir;

  static Stream<Arguments> builds() {
    return Stream.of(GuestCompiler.values())
        .flatMap(
            compiler ->
                Stream.of("-fpatchable-function-entry=4", "-pg", "-pg -mfentry")
                    .filter(how -> compiler == GuestCompiler.X86_64 || !how.contains("-mfentry"))
                    .map(how -> Arguments.of(compiler, how)));
  }

  @ParameterizedTest
  @MethodSource("builds")
  void areReadWhereTheStartUpCodeReadsThem(GuestCompiler compiler, String how) throws Exception {
    for (String ram : new String[] {"30000000", "10000000"}) {
      Path layout = Files.writeString(dir.resolve("layout.ld"), LAYOUT.replace("ADDRESS", ram));
      List<String> arguments =
          new ArrayList<>(
              List.of(
                  "-O2",
                  "-static",
                  "-nostdlib",
                  "-ffreestanding",
                  "-fno-pie",
                  "-no-pie",
                  "-fno-omit-frame-pointer",
                  "-Wl,--build-id=none",
                  "-Wl,--no-warn-rwx-segments",
                  "-Wl,-T," + layout,
                  Files.writeString(dir.resolve("rom.c"), SOURCE).toString()));
      arguments.addAll(List.of(how.split(" ", -1)));
      Path program =
          compiler
              .assumeInstalled()
              .compile(dir.resolve("rom-" + ram + ".elf"), arguments.toArray(String[]::new));
      LoadedImage image = LoadedImage.load(program);
      for (ProbeKind probe : new ProbeKind[] {ProbeKind.JAVA, ProbeKind.NATIVE}) {
        Run run =
            Run.of(
                image,
                Run.options().withProbe(probe).withTrace(TraceSettings.standard()),
                1_000_000,
                core -> {},
                "rom");
        // 12 and 8 calls of mix; 48 of fast, 10 of slow
        assertThat(run.ending().detail()).isEqualTo("exited with code 78");
        assertThat(run.counts())
            .as("%s", probe)
            .containsOnly(Map.entry("fast", 8L), Map.entry("mix", 16L), Map.entry("slow", 8L));
      }
    }
  }
}
