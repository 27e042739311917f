package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs with threads of the C library. What is not installed is skipped. */
class ThreadsTest {
  /** Each thread calls its functions a number of times of its own. */
  private static final String PROGRAM =
      """
      #include <pthread.h>
      #include <stdio.h>
      #include <time.h>
      #include <unistd.h>
      #define APART __attribute__((noinline, noclone))
      static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
      static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
      static pthread_barrier_t barrier;
      static __thread int own;
      static int counter, turn, timeouts;
      APART void count(void) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
        own++;
      }
      APART void *counts(void *n) {
        for (long i = 0; i < (long)n; i++) count();
        return (void *)(long)own;
      }
      APART void take(int mine) {
        pthread_mutex_lock(&lock);
        while (turn != mine) pthread_cond_wait(&turned, &lock);
        turn = 1 - mine;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&lock);
      }
      APART void *ping(void *mine) {
        for (int i = 0; i < 25; i++) take((long)mine);
        return 0;
      }
      APART void phase(void) { pthread_barrier_wait(&barrier); }
      APART void *phases(void *n) {
        for (int i = 0; i < 5; i++) phase();
        usleep(1000 * (long)n);
        pthread_exit(n);
      }
      APART void late(void) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        pthread_mutex_lock(&lock);
        timeouts += pthread_cond_timedwait(&turned, &lock, &until) != 0;
        pthread_mutex_unlock(&lock);
      }
      int main(void) {
        pthread_t t[4];
        long sum = 0;
        void *result;
        for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, counts, (void *)(100 * (i + 1)));
        for (int i = 3; i >= 0; i--) {
          pthread_join(t[i], &result);
          sum += (long)result;
        }
        printf("%d %ld %d\\n", counter, sum, own);
        for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, ping, (void *)i);
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
        pthread_barrier_init(&barrier, 0, 3);
        for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, phases, (void *)(3 - i));
        for (int i = 0; i < 3; i++) {
          pthread_join(t[i], &result);
          printf("%ld", (long)result);
        }
        late();
        printf(" %d\\n", timeouts);
        return 7;
      }
      """;

  private static final Map<Long, Map<String, Integer>> CALLS =
      new TreeMap<>(
          Map.of(
              0L, Map.of("main", 1, "late", 1),
              1001L, Map.of("counts", 1, "count", 100),
              1002L, Map.of("counts", 1, "count", 200),
              1003L, Map.of("counts", 1, "count", 300),
              1004L, Map.of("counts", 1, "count", 400),
              1005L, Map.of("ping", 1, "take", 25),
              1006L, Map.of("ping", 1, "take", 25),
              1007L, Map.of("phases", 1, "phase", 5),
              1008L, Map.of("phases", 1, "phase", 5),
              1009L, Map.of("phases", 1, "phase", 5)));

  private static final String RACE =
      """
      #include <pthread.h>
      #include <stdio.h>
      static volatile int counter;
      __attribute__((noinline)) int look(void) { return counter; }
      __attribute__((noinline)) void add(void) { counter = look() + 1; }
      static void *adds(void *n) {
        for (int i = 0; i < 1000; i++) add();
        return n;
      }
      int main(void) {
        pthread_t t[2];
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, adds, 0);
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
        printf("%d", counter);
      }
      """;

  private static final String DEADLOCK =
      """
      #include <pthread.h>
      #include <unistd.h>
      pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
      __attribute__((noinline)) void *forth(void *n) {
        pthread_mutex_lock(&one);
        usleep(10);
        pthread_mutex_lock(&two);
        return n;
      }
      __attribute__((noinline)) void *back(void *n) {
        pthread_mutex_lock(&two);
        usleep(10);
        pthread_mutex_lock(&one);
        return n;
      }
      int main(void) {
        pthread_t t[2];
        pthread_create(&t[0], 0, forth, 0);
        pthread_create(&t[1], 0, back, 0);
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
      }
      """;

  private static final long SLICE = 1_000_000;

  /** {@code -Dretstack.schedules=1000} takes so many. */
  private static final int SCHEDULES =
      Integer.getInteger("retstack.schedules", EachIsa.ALL ? 20 : 5);

  @TempDir private Path folder;

  /** A way to compile and link. */
  enum Form {
    X86_64("x86_64-linux-gnu-gcc", "-pg"),
    X86_64_FENTRY("x86_64-linux-gnu-gcc", "-pg", "-mfentry"),
    X86_64_STATIC("x86_64-linux-gnu-gcc", "-pg", "-static"),
    I386("x86_64-linux-gnu-gcc", "-m32", "-pg"),
    I386_STATIC("x86_64-linux-gnu-gcc", "-m32", "-pg", "-static"),
    AARCH64("aarch64-linux-gnu-gcc", "-pg"),
    AARCH64_STATIC("aarch64-linux-gnu-gcc", "-pg", "-static"),
    RISCV64("riscv64-linux-gnu-gcc", "-pg"),
    RISCV64_STATIC("riscv64-linux-gnu-gcc", "-pg", "-static"),
    ARM("arm-linux-gnueabihf-gcc", "-pg"),
    ARM_STATIC("arm-linux-gnueabihf-gcc", "-pg", "-static"),
    S390X("s390x-linux-gnu-gcc", "-pg"),
    S390X_STATIC("s390x-linux-gnu-gcc", "-pg", "-static"),
    PPC64LE("powerpc64le-linux-gnu-gcc", "-pg"),
    PPC64LE_STATIC("powerpc64le-linux-gnu-gcc", "-pg", "-static"),
    PPC64("powerpc64-linux-gnu-gcc", "-pg"),
    PPC64_STATIC("powerpc64-linux-gnu-gcc", "-pg", "-static"),
    PPC32("powerpc-linux-gnu-gcc", "-pg"),
    PPC32_STATIC("powerpc-linux-gnu-gcc", "-pg", "-static"),
    MIPS("mips-linux-gnu-gcc", "-pg"),
    MIPS_STATIC("mips-linux-gnu-gcc", "-pg", "-static"),
    MIPSEL("mipsel-linux-gnu-gcc", "-pg"),
    MIPSEL_STATIC("mipsel-linux-gnu-gcc", "-pg", "-static"),
    MIPS64("mips64-linux-gnuabi64-gcc", "-pg"),
    MIPS64_STATIC("mips64-linux-gnuabi64-gcc", "-pg", "-static");

    private final String command;
    private final List<String> flags;

    Form(String command, String... flags) {
      this.command = command;
      this.flags = List.of(flags);
    }

    Path build(Path folder, String text) throws IOException, InterruptedException {
      Assumptions.assumeTrue(GuestCompiler.installed(command), "skipped: no " + command);
      Path source = Files.writeString(folder.resolve("prog.c"), text);
      List<String> arguments =
          new ArrayList<>(List.of("-O1", "-fno-omit-frame-pointer", "-pthread"));
      arguments.add(source.toString());
      arguments.addAll(flags);
      return GuestCompiler.compileWith(
          command, folder.resolve("prog"), arguments.toArray(String[]::new));
    }
  }

  private static HostedRun run(Path program, ProbeKind probe, long quantum, long seed, long slice)
      throws IOException, InterruptedException {
    CoreOptions core =
        CoreOptions.of(LinuxOptions.of("prog"))
            .withProbe(probe)
            .withSchedule(new Schedule(quantum, seed));
    return HostedRun.of(program, core, "", slice);
  }

  /** Entries by function and by task. */
  private static Map<Long, Map<String, Integer>> calls(Path program, HostedRun run)
      throws IOException {
    LoadedImage image = LoadedImage.load(program);
    Map<Long, Map<String, Integer>> calls = new TreeMap<>();
    long task = 0;
    for (String record : run.records()) {
      String[] f = record.split(" ", -1);
      int kind = Integer.parseInt(f[0]);
      long self = Long.parseUnsignedLong(f[3], 16);
      if (kind == RecordBatch.TASK) {
        boolean ended = Long.parseLong(f[4], 16) == TaskEvent.ENDED.code();
        task = ended ? task : self;
      } else if (kind == RecordBatch.ENTRY) {
        String name = image.elf().functionAt(self).orElseThrow().name();
        calls.computeIfAbsent(task, _ -> new TreeMap<>()).merge(name, 1, Integer::sum);
      }
    }
    return calls;
  }

  static final List<Form> OF_EACH_ISA =
      List.of(
          Form.X86_64,
          Form.I386_STATIC,
          Form.AARCH64_STATIC,
          Form.RISCV64,
          Form.ARM_STATIC,
          Form.S390X,
          Form.PPC64LE_STATIC,
          Form.PPC64,
          Form.PPC32,
          Form.MIPS,
          Form.MIPSEL_STATIC,
          Form.MIPS64);

  /** {@code -Dretstack.zoo=all} asks for all. */
  static Stream<Form> forms() {
    return EachIsa.compiled(
        List.of(Form.values()),
        OF_EACH_ISA,
        List.of(Form.X86_64, Form.ARM_STATIC, Form.S390X, Form.PPC32_STATIC))
        .stream();
  }

  @ParameterizedTest
  @MethodSource("forms")
  void eachThreadIsATaskWithItsCalls(Form form) throws Exception {
    Path program = form.build(folder, PROGRAM);
    HostedRun first = run(program, ProbeKind.AUTO, 1000, 0, SLICE);
    HostedRun again = run(program, ProbeKind.AUTO, 1000, 0, 777);
    HostedRun inJava = run(program, ProbeKind.JAVA, 1000, 0, SLICE);

    assertThat(first.result().unsupported()).isEmpty();
    assertThat(first.result().ending().detail()).isEqualTo("exited with code 7");
    assertThat(first.stdout()).isEqualTo("1000 1000 0\n321 1\n");
    assertThat(calls(program, first)).isEqualTo(CALLS);
    assertThat(again.records()).isEqualTo(first.records());
    assertThat(inJava.records()).isEqualTo(first.records());
    long ended = first.records().stream().filter(r -> r.matches(ENDED)).count();
    assertThat(ended).isEqualTo(9);
  }

  private static final String ENDED =
      "%d \\d+ \\d+ [0-9a-f]+ %x .*".formatted(RecordBatch.TASK, TaskEvent.ENDED.code());

  @Test
  void everySeedInterleavesInAnotherWayAndAllCallsAreThere() throws Exception {
    Path program = Form.X86_64.build(folder, PROGRAM);
    Set<Integer> interleavings = new HashSet<>(); // hashes: 1,000 runs are too large to keep
    for (int seed = 1; seed <= SCHEDULES; seed++) {
      HostedRun run = run(program, ProbeKind.AUTO, 500, seed, SLICE);
      assertThat(run.stdout()).as("seed %d", seed).isEqualTo("1000 1000 0\n321 1\n");
      assertThat(calls(program, run)).as("seed %d", seed).isEqualTo(CALLS);
      HostedRun inJava = run(program, ProbeKind.JAVA, 500, seed, 7777);
      assertThat(inJava.records()).as("seed %d", seed).isEqualTo(run.records());
      interleavings.add(run.records().hashCode());
    }
    assertThat(interleavings).hasSize(SCHEDULES);
  }

  @Test
  void aLostUpdateIsFoundBySomeSeedsAndByTheSameOnesAgain() throws Exception {
    Path program = Form.X86_64.build(folder, RACE);
    List<String> counters = new ArrayList<>();
    for (int seed = 1; seed <= 8; seed++) {
      HostedRun run = run(program, ProbeKind.AUTO, 4000, seed, SLICE);
      assertThat(run(program, ProbeKind.AUTO, 4000, seed, SLICE).records())
          .isEqualTo(run.records());
      counters.add(run.stdout());
    }
    assertThat(new HashSet<>(counters)).contains("2000").hasSizeGreaterThan(1);
  }

  @Test
  void aDeadlockEndsTheCoreAndSaysWhoWaitsForWhat() throws Exception {
    Path program = Form.X86_64_STATIC.build(folder, DEADLOCK);
    HostedRun run = run(program, ProbeKind.AUTO, 1000, 0, SLICE);
    assertThat(run.result().ending().detail())
        .contains("deadlock: thread 1000 waits for the futex ", " in main")
        .contains("thread 1001 waits for the futex two", " in forth")
        .contains("thread 1002 waits for the futex one", " in back");
  }
}
