package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ordinary functions by the names of counting functions: they run, and are traced as any other. */
class OrdinaryNamesTest {
  private static final String QUIET =
      "__attribute__((no_instrument_function, patchable_function_entry(0)))";

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -pg -mfentry, mcount",
    "x86_64-linux-gnu-gcc, -fpatchable-function-entry=5, mcount",
    "aarch64-linux-gnu-gcc, -fpatchable-function-entry=2, _mcount",
    "riscv64-linux-gnu-gcc, -fpatchable-function-entry=4, _mcount",
  })
  void soDoThoseOfAnotherFile(String compiler, String flags, String name) throws Exception {
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path shared =
        Files.writeString(
            folder.resolve("own.c"), "int %s(int x) { return 3 * x + 1; }".formatted(name));
    Path source =
        Files.writeString(
            folder.resolve("prog.c"),
            """
            int %1$s(int x);
            __attribute__((noinline, noclone)) int outer(int x) { return %1$s(x) + 1; }
            __attribute__((noinline, noclone)) int other(int x) { return x + 2; }
            int main(void) {
              int sum = 0;
              for (int i = 0; i < 5; i++) sum += outer(i) * other(i);
              return sum;
            }
            """
                .formatted(name));
    compile(compiler, flags, folder.resolve("libown.so"), shared, "-shared", "-fPIC");
    Path file =
        compile(
            compiler,
            flags,
            folder.resolve("prog"),
            source,
            "-L" + folder,
            "-lown",
            "-Wl,-rpath,$ORIGIN");
    LoadedImage image = LoadedImage.load(file).requireCallSites();
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
      assertThat(run.ending().detail()).isEqualTo("exited with code 190");
    }
  }

  private static Path compile(
      String compiler, String flags, Path output, Path source, String... more) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(flags.split(" ")));
    arguments.addAll(List.of("-O1", source.toString()));
    arguments.addAll(List.of(more));
    return GuestCompiler.compileWith(compiler, output, arguments.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -pg -mfentry, mcount, static",
    "x86_64-linux-gnu-gcc, -pg -mfentry, mcount, ''",
    "x86_64-linux-gnu-gcc, -pg -mfentry, _mcount, static quiet",
    "x86_64-linux-gnu-gcc, -pg -mfentry -static, mcount, quiet",
    "x86_64-linux-gnu-gcc, -pg -mfentry -mrecord-mcount -mnop-mcount -fno-pie -no-pie, mcount, ''",
    "x86_64-linux-gnu-gcc, -fpatchable-function-entry=5, mcount, static",
    "x86_64-linux-gnu-gcc, -fpatchable-function-entry=5, mcount, quiet",
    "x86_64-linux-gnu-gcc, -fpatchable-function-entry=5, __fentry__, ''",
    "x86_64-linux-gnu-gcc, -pg, __fentry__, static",
    "x86_64-linux-gnu-gcc, -pg, __fentry__, quiet",
    "x86_64-linux-gnu-gcc, -m32 -fpatchable-function-entry=5, mcount, static",
    "aarch64-linux-gnu-gcc, -fpatchable-function-entry=2, _mcount, static",
    "aarch64-linux-gnu-gcc, -fpatchable-function-entry=2, mcount, quiet",
    "riscv64-linux-gnu-gcc, -fpatchable-function-entry=4, _mcount, ''",
    "riscv64-linux-gnu-gcc, -fpatchable-function-entry=4, mcount, static quiet",
    "arm-linux-gnueabihf-gcc, -fpatchable-function-entry=2, __gnu_mcount_nc, ''",
    "s390x-linux-gnu-gcc, -pg -mfentry, _mcount, static",
    "powerpc64le-linux-gnu-gcc, -fpatchable-function-entry=2, _mcount, static",
  })
  void theyRunAndAreTraced(String compiler, String flags, String name, String marks)
      throws Exception {
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    String mark = marks.replace("quiet", QUIET);
    for (String level : List.of("-O0", "-O1", "-O2")) {
      Path source =
          Files.writeString(
              folder.resolve("prog.c"),
              """
              #define APART __attribute__((noinline, noclone))
              static volatile int calls;
              %2$s APART int %1$s(int x) { calls++; return 3 * x + 1; }
              APART int outer(int x) { return %1$s(x) + 1; }
              APART int other(int x) { return x + 2; }
              int main(void) {
                int sum = 0;
                for (int i = 0; i < 5; i++) sum += outer(i) * other(i);
                return calls == 5 ? sum : 0;
              }
              """
                  .formatted(name, mark));
      List<String> arguments = new ArrayList<>(List.of(flags.split(" ")));
      arguments.addAll(List.of(level, source.toString()));
      Path file =
          GuestCompiler.compileWith(
              compiler, folder.resolve("prog"), arguments.toArray(String[]::new));
      LoadedImage image = LoadedImage.load(file).requireCallSites();
      for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
        Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
        // 2*2 + 5*3 + 8*4 + 11*5 + 14*6
        assertThat(run.ending().detail()).as(level).isEqualTo("exited with code 190");
        assertThat(run.counts()).containsEntry("outer", 5L).containsEntry("other", 5L);
        assertThat(run.counts().getOrDefault(name, 0L))
            .as("%s, %s", name, level)
            .isEqualTo(marks.contains("quiet") ? 0 : 5);
      }
    }
  }
}
