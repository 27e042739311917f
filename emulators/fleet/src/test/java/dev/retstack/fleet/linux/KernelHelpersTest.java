package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs for the first ARM processors exchange words and find their thread by kernel code. */
class KernelHelpersTest {
  private static final String SOURCE =
      """
      #include <pthread.h>
      #include <stdio.h>
      static int sum;
      static long long wide;
      static __thread int own;
      __attribute__((noinline)) static void add(int n) {
        __sync_fetch_and_add(&sum, n);
        __sync_fetch_and_add(&wide, 1LL << 32);
        own += n;
      }
      static void *work(void *unused) {
        for (int i = 1; i <= 100; i++) add(i);
        return (void *)(long)own;
      }
      int main(void) {
        pthread_t threads[2];
        long owns = 0;
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 2; i++) {
          void *result;
          pthread_join(threads[i], &result);
          owns += (long)result;
        }
        printf("%d %lld %ld %d\\n", sum, wide >> 32, owns, own);
        return 0;
      }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"-static", ""})
  void areWhereTheKernelHasThem(String link) throws Exception {
    String compiler = "arm-linux-gnueabi-gcc";
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source = Files.writeString(folder.resolve("prog.c"), SOURCE);
    List<String> flags = new ArrayList<>(List.of("-O1", "-pg", "-pthread", source.toString()));
    if (!link.isEmpty()) {
      flags.add(link);
    }
    Path program =
        GuestCompiler.compileWith(compiler, folder.resolve("prog"), flags.toArray(String[]::new));
    for (long slice : new long[] {1_000_000, 97}) {
      HostedRun run = HostedRun.of(program, LinuxOptions.of("prog"), "", ProbeKind.AUTO, slice);
      assertThat(run.stdout()).isEqualTo("10100 200 10100 0\n");
      assertThat(run.result().ending().detail()).isEqualTo("exited with code 0");
      assertThat(run.calls()).containsEntry("add", 200).containsEntry("work", 2);
    }
  }
}
