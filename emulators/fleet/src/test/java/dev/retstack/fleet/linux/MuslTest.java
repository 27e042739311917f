package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs of musl. It has no counting function, so each brings one. What is not installed is
 * skipped.
 */
class MuslTest {
  private static final String PROGRAM =
      """
      #include <stdio.h>
      #include <stdlib.h>
      __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
      static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
      int main(void) {
        int v[2] = {3, 1};
        qsort(v, 2, sizeof v[0], order);
        printf("%d %d\\n", fib(8), v[0]);
        return 3;
      }
      """;

  private static final String COUNTING =
      """
      __asm__(".globl mcount\\n.type mcount,@function\\nmcount: ret\\n"
              ".globl __fentry__\\n.type __fentry__,@function\\n__fentry__: ret");
      """;

  private static final Map<String, Integer> CALLS = Map.of("main", 1, "fib", 67, "order", 1);

  @TempDir private Path folder;

  private void check(Path program, LinuxOptions linux) throws Exception {
    HostedRun run = HostedRun.of(program, linux, "", ProbeKind.AUTO, 1_000_000);
    assertThat(run.stdout()).isEqualTo("21 1\n");
    assertThat(run.result().ending().detail()).isEqualTo("exited with code 3");
    assertThat(run.calls()).containsAllEntriesOf(CALLS);
    assertThat(HostedRun.of(program, linux, "", ProbeKind.JAVA, 777).records())
        .isEqualTo(run.records());
  }

  private Path compile(String name, String... flags) throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed("musl-gcc"), "skipped: no musl-gcc");
    List<String> words = new ArrayList<>(List.of("-O1"));
    words.addAll(List.of(flags));
    return GuestCompiler.compileWith(
        "musl-gcc", folder.resolve(name), words.toArray(String[]::new));
  }

  private String source(String name, String text) throws Exception {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-pg",
        "-pg -static",
        "-pg -fno-pie -no-pie",
        "-pg -mfentry",
        "-pg -mfentry -static",
        "-fpatchable-function-entry=5",
        "-fpatchable-function-entry=5 -static"
      })
  void programsAreTraced(String flags) throws Exception {
    Path object = compile("prog.o", (flags + " -c " + source("prog.c", PROGRAM)).split(" ", -1));
    String link = flags.replace("-pg", "").replace("-mfentry", "").strip();
    String counting = source("counting.c", COUNTING);
    String words = "%s %s %s".formatted(link, object, counting).strip();
    check(compile("prog", words.split(" ", -1)), LinuxOptions.of("prog"));
  }

  /** musl finds nothing by an $ORIGIN that is the root. */
  @Test
  void countingFunctionsOfSharedObjectsAreFoundByPath() throws Exception {
    Path object = compile("prog.o", "-pg", "-c", source("prog.c", PROGRAM));
    compile("libcounting.so", "-shared", "-fPIC", source("counting.c", COUNTING));
    Path program = compile("prog", object.toString(), "-L" + folder, "-lcounting");
    check(program, LinuxOptions.of("prog").withEnvironment(Map.of("LD_LIBRARY_PATH", "/")));
  }
}
