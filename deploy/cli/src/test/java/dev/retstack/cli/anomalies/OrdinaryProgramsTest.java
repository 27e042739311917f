package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What ordinary programs do is no anomaly: exceptions, threads, longjmp. So {@code anomalies
 * --fail-on warning} is a gate for them, and each of these events is in the tree and in the stats.
 */
class OrdinaryProgramsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String THROWS =
      """
      #include <cstdio>
      #include <stdexcept>
      struct Guard { int *left; ~Guard() { ++*left; } };
      static int __attribute__((noinline)) deepest(int n) {
        if (n % 3 == 0) throw std::runtime_error("three");
        return n;
      }
      static int __attribute__((noinline)) middle(int n, int *left) {
        Guard guard{left};
        return deepest(n) + 1;
      }
      static int __attribute__((noinline)) again(int n, int *left) {
        try { return middle(n, left) + 1; } catch (const std::exception &) { throw; }
      }
      int main() {
        int caught = 0, left = 0;
        for (int i = 0; i < 30; i++) {
          try { again(i, &left); } catch (const std::runtime_error &) { caught++; }
        }
        std::printf("%d %d\\n", caught, left);
        return 0;
      }
      """;

  private static final String JUMPS =
      """
      #include <setjmp.h>
      #include <signal.h>
      #include <stdio.h>
      static jmp_buf home;
      static sigjmp_buf from_signal;
      static void __attribute__((noinline)) leap(int n) { if (n == 0) longjmp(home, 1); leap(n - 1); __asm__(""); }
      static void on_signal(int number) { siglongjmp(from_signal, number); }
      int main(void) {
        volatile int jumped = 0, signalled = 0;
        for (volatile int i = 0; i < 20; i++)
          if (setjmp(home)) jumped++; else leap(4);
        signal(SIGUSR1, on_signal);
        for (volatile int i = 0; i < 5; i++)
          if (sigsetjmp(from_signal, 1)) signalled++; else raise(SIGUSR1);
        printf("%d %d\\n", jumped, signalled);
        return 0;
      }
      """;

  private static final String THREADS =
      """
      #include <pthread.h>
      #include <sched.h>
      #include <stdio.h>
      static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
      static long sum;
      static void __attribute__((noinline)) add(int n) {
        pthread_mutex_lock(&lock);
        sum += n;
        pthread_mutex_unlock(&lock);
        sched_yield();
      }
      static void *work(void *unused) { for (int i = 0; i < 40; i++) add(i); return unused; }
      int main(void) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
        printf("%ld\\n", sum);
        return 0;
      }
      """;

  @TempDir private Path dir;

  @ParameterizedTest
  @ValueSource(strings = {"-pg", "-pg -mfentry", "-pg -O2"})
  void exceptionsAreEventsAndNoAnomalies(String flags) throws Exception {
    Path trace = record("g++", flags, THROWS, "throws.cc", "10 30\n");
    assertThat(stats(trace).get("UNWOUND_CALLS")).as(flags).isGreaterThanOrEqualTo(30);
    assertThat(graph(trace)).contains("deepest", "UNWOUND");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-pg", "-pg -mfentry", "-pg -O1"})
  void jumpsOfTheProgramAreEventsAndNoAnomalies(String flags) throws Exception {
    Path trace = record("gcc", flags, JUMPS, "jumps.c", "20 5\n");
    assertThat(stats(trace).get("UNWOUND_CALLS")).as(flags).isGreaterThanOrEqualTo(100);
    assertThat(graph(trace)).contains("leap", "UNWOUND");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-pg -pthread", "-pg -mfentry -pthread", "-pg -O1 -pthread"})
  void threadsAreEventsAndNoAnomalies(String flags) throws Exception {
    Path trace = record("gcc", flags, THREADS, "threads.c", "2340\n");
    long switches = stats(trace).get("STACK_SWITCHES");
    assertThat(switches).as(flags).isGreaterThan(100);
    assertThat(graph(trace).lines().filter(line -> line.contains(" => ")).count())
        .as("each switch is printed once")
        .isBetween(100L, switches);
    totalsAreTimesInWhichTasksRan(trace);
  }

  /** Three threads of one core take no longer than the core, unless sleep-time is asked for. */
  private static void totalsAreTimesInWhichTasksRan(Path trace) throws IOException {
    long main = row(trace, "main").get("wall").asLong();
    JsonNode work = row(trace, "work");
    assertThat(work.get("total").asLong()).isLessThan(main);
    assertThat(work.get("wall").asLong()).isGreaterThan(main);
    JsonNode withSleep = row(trace, "work", "--sleep-time");
    assertThat(withSleep.get("total")).isEqualTo(work.get("wall")).isEqualTo(withSleep.get("wall"));
    assertThat(Ran.well("graph", trace.toString(), "--timeline").out()).contains("--");
  }

  private static JsonNode row(Path trace, String function, String... options) throws IOException {
    List<String> line = new ArrayList<>(List.of("report", trace.toString(), "--format", "json"));
    line.addAll(List.of(options));
    JsonNode report = JSON.readTree(Ran.well(line.toArray(String[]::new)).out());
    for (JsonNode row : report.get("functions")) {
      if (row.get("name").asText().equals(function)) {
        return row;
      }
    }
    throw new AssertionError(function + " is not in the report");
  }

  /** The gate does not pass all: a corrupted frame is an error as before. */
  @Test
  void theGateStillFindsWhatIsWrong() {
    String trace = dir.resolve("corrupt.avro").toString();
    Ran.well("record", "--image", "zoo-x86_64-mcount", "-o", trace, "--", "corrupt");
    Ran gate = Ran.retstack("anomalies", trace, "--fail-on", "warning");
    assertThat(gate.code()).isEqualTo(ExitCode.FINDINGS);
    assertThat(gate.out()).contains("FRAME_POINTER_MISMATCH");
  }

  /** Records a program, which says what it says natively, and sends the trace through the gate. */
  private Path record(String compiler, String flags, String text, String name, String says)
      throws IOException, InterruptedException {
    assumeTrue(
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, compiler))),
        compiler + " is not installed");
    Path source = Files.writeString(dir.resolve(name), text);
    Path program = dir.resolve("program");
    List<String> command = new ArrayList<>(List.of(compiler));
    command.addAll(List.of(flags.split(" ", -1)));
    command.addAll(List.of("-o", program.toString(), source.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("%s: %s", command, messages).isZero();
    Path trace = dir.resolve("trace.avro");
    Ran recorded = Ran.well("record", "--image", program.toString(), "-o", trace.toString());
    assertThat(recorded.out()).isEqualTo(says);
    Ran gate = Ran.retstack("anomalies", trace.toString(), "--fail-on", "warning");
    assertThat(gate.out()).as(flags).isEqualTo("# no anomalies\n");
    assertThat(gate.code()).isEqualTo(ExitCode.OK);
    return trace;
  }

  private static Map<String, Long> stats(Path trace) throws IOException {
    Map<String, Long> stats = new TreeMap<>();
    JsonNode report = JSON.readTree(Ran.well("report", trace.toString(), "--format", "json").out());
    for (JsonNode row : report.get("stats")) {
      stats.put(row.get("name").asText(), row.get("count").asLong());
      assertThat(row.get("severity").asText()).as(row.toString()).isEqualTo("INFO");
    }
    assertThat(stats).doesNotContainKey("ANOMALIES_NOT_KEPT");
    return stats;
  }

  private static String graph(Path trace) {
    String graph = Ran.well("graph", trace.toString()).out();
    assertThat(graph).doesNotContain("STACK_SWITCH", "ended without returning");
    return graph;
  }
}
