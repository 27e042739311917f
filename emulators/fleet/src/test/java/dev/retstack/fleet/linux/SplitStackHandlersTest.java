package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Signal handlers on a stack of pieces are traced within limits, and the run says so. */
class SplitStackHandlersTest {
  private static final String PROGRAM =
      """
      #include <signal.h>
      #include <stdio.h>
      static volatile int handled;
      static void handle(int signal) { handled += signal; }
      __attribute__((noinline)) static int deep(int n) {
        volatile char room[2000];
        room[0] = n;
        if (n == 0) {
          if (HANDLES) raise(SIGUSR1);
          return handled;
        }
        return deep(n - 1) + room[0] - n;
      }
      int main(void) {
        if (HANDLES) signal(SIGUSR1, handle);
        printf("%d\\n", deep(50));
        return 0;
      }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theEndOfTheRunNamesTheLimit(boolean handles) throws Exception {
    Path source = Files.writeString(folder.resolve("prog.c"), PROGRAM);
    Path program =
        GuestCompiler.X86_64
            .assumeInstalled()
            .compile(
                folder.resolve("prog"),
                "-O1",
                "-pg",
                "-static",
                "-fsplit-stack",
                "-DHANDLES=" + (handles ? 1 : 0),
                source.toString());
    HostedRun run = HostedRun.of(program, LinuxOptions.of("prog"), "", ProbeKind.AUTO, 1_000_000);
    assertThat(run.stdout()).isEqualTo(handles ? "10\n" : "0\n");
    assertThat(run.calls()).containsEntry("deep", 51);
    List<String> limits =
        run.result().lacks().stream().filter(line -> line.contains("split stacks")).toList();
    assertThat(limits).hasSize(handles ? 1 : 0);
  }
}
