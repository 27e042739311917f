package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A traced function that jumps to {@code getcontext}: what is resumed later returns to its caller,
 * as often as it is resumed.
 */
class ResumedContextsTest {
  private static final String PROGRAM =
      """
      #include <stdio.h>
      #include <ucontext.h>
      #define APART __attribute__((noinline, noclone))
      static ucontext_t here;
      static int (*volatile get)(ucontext_t *) = getcontext;
      static volatile int saved;
      APART int save(ucontext_t *c) { saved++; return get(c); }
      APART void again(void) { setcontext(&here); }
      APART void leaf(void) { __asm__ volatile(""); }
      int main(void) {
        volatile int rounds = 0;
        save(&here);
        rounds++;
        leaf();
        if (rounds < 4) again();
        printf("%d %d\\n", rounds, saved);
        return 0;
      }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x86_64-linux-gnu-gcc -pg",
        "x86_64-linux-gnu-gcc -pg -mfentry",
        "x86_64-linux-gnu-gcc -fpatchable-function-entry=5",
        "x86_64-linux-gnu-gcc -pg -static",
        "aarch64-linux-gnu-gcc -pg",
        "riscv64-linux-gnu-gcc -pg",
        "s390x-linux-gnu-gcc -pg",
        "arm-linux-gnueabihf-gcc -pg",
        "arm-linux-gnueabi-gcc -marm -pg",
        "x86_64-linux-gnu-gcc -m32 -pg",
        "mips64-linux-gnuabi64-gcc -pg",
        "m68k-linux-gnu-gcc -pg"
      })
  void returnAsOftenAsTheyAreResumed(String command) throws Exception {
    List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
    String compiler = words.removeFirst();
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    words.addAll(List.of("-O2", Files.writeString(folder.resolve("prog.c"), PROGRAM).toString()));
    Path program =
        GuestCompiler.compileWith(compiler, folder.resolve("prog"), words.toArray(String[]::new));
    HostedRun run = HostedRun.of(program, LinuxOptions.of("prog"), "", ProbeKind.AUTO, 1_000_000);
    assertThat(run.stdout()).isEqualTo("4 1\n");
    assertThat(run.calls())
        .containsEntry("save", 1)
        .containsEntry("again", 3)
        .containsEntry("leaf", 4);
    assertThat(run.records().stream().filter(r -> r.startsWith(RecordBatch.EXIT + " ")).count())
        .isEqualTo(run.calls().values().stream().mapToInt(n -> n).sum() - 3L);
    assertThat(HostedRun.of(program, LinuxOptions.of("prog"), "", ProbeKind.JAVA, 777).records())
        .isEqualTo(run.records());
  }
}
