package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A stack of pieces (-fsplit-stack) is one stack, of one task. */
class SplitStackTest {
  private static final String PROGRAM =
      """
      #include <setjmp.h>
      #define TRACED __attribute__((noinline, noclone))
      static jmp_buf back;
      static int jumps;
      TRACED int leaf(int n) { return n & 1; }
      TRACED int down(int n) {
        volatile char room[2000];
        room[n] = 1;
        if (n == 0 && jumps) longjmp(back, 1);
        int r = n ? down(n - 1) : 0;
        return r + leaf(n + room[n]);
      }
      int main(void) {
        int r = down(200) + down(3) - down(200) - down(3);
        jumps = 1;
        if (!setjmp(back)) down(150);
        jumps = 0;
        return r + leaf(2);
      }
      """;

  /** Pieces that are made later lie lower: there was a hole. Nothing is named longjmp. */
  private static final String LOWER =
      """
      #include <sys/mman.h>
      #define TRACED __attribute__((noinline, noclone))
      enum { BYTES = 16 << 20, HIGH = 20, DEEP = 250 };
      void __splitstack_getcontext(void *[10]);
      void __splitstack_setcontext(void *[10]);
      static void *back[5], *pieces[10], *hole;
      TRACED int leaf(int n) { return n & 1; }
      TRACED int down(int n) {
        volatile char room[2000];
        room[n] = 1;
        if (n == DEEP) munmap(hole, BYTES);
        if (n == 0) __builtin_longjmp(back, 1);
        return down(n - 1) + room[n];
      }
      TRACED int land(int n) {
        volatile char room[2000];
        room[n] = 1;
        __splitstack_getcontext(pieces);
        if (!__builtin_setjmp(back)) return down(n) + room[n];
        __splitstack_setcontext(pieces);
        return leaf(n);
      }
      TRACED int high(int n) {
        volatile char room[2000];
        room[n] = 1;
        return room[n] - 1 + (n ? high(n - 1) : land(DEEP));
      }
      int main(void) {
        hole = mmap(0, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return high(HIGH);
      }
      """;

  @TempDir private Path folder;

  /** Compiles and runs a program; both probes see the same. */
  private Run run(String program, String flags) throws Exception {
    Path source = Files.writeString(folder.resolve("split.c"), program);
    List<String> words = new ArrayList<>(List.of(flags.split(" ", -1)));
    words.addAll(List.of("-fsplit-stack", source.toString()));
    LoadedImage image =
        LoadedImage.load(
            GuestCompiler.X86_64
                .assumeInstalled()
                .compile(folder.resolve("split"), words.toArray(String[]::new)));
    Run java = Run.of(image, Run.options().withProbe(ProbeKind.JAVA), 1_000_000, core -> {});
    Run run = Run.of(image, Run.options().withProbe(ProbeKind.NATIVE), 1_000_000, core -> {});
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    Records.assertSame(java, run);
    return run;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-O0 -pg",
        "-O1 -pg -static",
        "-O1 -fpatchable-function-entry=5",
        "-m32 -O1 -pg -static"
      })
  void ofFramesOfOnePlaceTheNearestReturns(String flags) throws Exception {
    Run run = run(LOWER, flags);
    List<String> exits = new ArrayList<>();
    for (int i = 0; i < run.records().size(); i++) {
      if (run.records().kind[i] == RecordBatch.EXIT) {
        long pc = run.records().selfPc[i];
        exits.add(run.image().elf().functionAt(pc).orElseThrow().name() + run.records().depth[i]);
      }
    }
    List<String> right = new ArrayList<>(List.of("land22"));
    for (int depth = 21; depth > 0; depth--) {
      right.add("high" + depth);
    }
    right.add("main0");
    assertThat(exits.getFirst()).startsWith("leaf");
    assertThat(exits.subList(1, exits.size())).isEqualTo(right);
  }

  @ParameterizedTest
  @CsvSource({
    "-O0 -pg",
    "-O1 -pg",
    "-O2 -pg",
    "-Os -pg -static",
    "-O2 -pg -mfentry",
    "-O2 -fpatchable-function-entry=5",
    "-m32 -O1 -pg -static",
    "-m32 -O2 -pg -static"
  })
  void aCallOnAnotherPieceIsOfTheSameTask(String flags) throws Exception {
    Run run = run(PROGRAM, flags);
    int deepest = 0;
    int exits = 0;
    int last = 0;
    for (int i = 0; i < run.records().size(); i++) {
      assertThat(run.records().kind[i]).isNotEqualTo(RecordBatch.TASK);
      deepest = Math.max(deepest, run.records().depth[i]);
      last = run.records().kind[i] == RecordBatch.ENTRY ? run.records().depth[i] : last;
      exits += run.records().kind[i] == RecordBatch.EXIT ? 1 : 0;
    }
    assertThat(run.counts())
        .containsEntry("down", 2 * (201L + 4) + 151)
        .containsEntry("leaf", 2 * (201L + 4) + 1)
        .containsEntry("main", 1L);
    assertThat(deepest).as("main, 201 of down, leaf").isEqualTo(202);
    assertThat(last).as("leaf in main, once a longjmp has left all the others").isEqualTo(1);
    assertThat(exits).isEqualTo(2 * 2 * (201 + 4) + 2);
  }
}
