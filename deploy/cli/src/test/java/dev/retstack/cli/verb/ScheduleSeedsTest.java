package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.schema.file.TraceClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that loses updates under some schedules, run under many. */
class ScheduleSeedsTest {
  private static final int SEEDS = 30;
  private static final String QUANTUM = "700";

  private static final String RACE =
      """
      #include <pthread.h>
      #define APART __attribute__((noinline, noclone))
      enum { ROUNDS = 40 };
      static volatile int counter, losses;
      static pthread_barrier_t barrier;
      APART int get(void) { return counter; }
      APART void put(int value) { counter = value; }
      APART void lost(int many) { losses = many; }
      static void *add(void *unused) {
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < ROUNDS; i++) put(get() + 1);
        return unused;
      }
      int main(void) {
        pthread_t a, b;
        pthread_barrier_init(&barrier, 0, 2);
        pthread_create(&a, 0, add, 0);
        pthread_create(&b, 0, add, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        if (counter != 2 * ROUNDS) lost(2 * ROUNDS - counter);
        return counter != 2 * ROUNDS;
      }
      """;

  @TempDir private static Path dir;
  private static String program;

  @BeforeAll
  static void compile() throws Exception {
    Assumptions.assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/gcc")), "skipped: gcc is not installed");
    Path source = Files.writeString(dir.resolve("race.c"), RACE);
    program = dir.resolve("race").toString();
    Process gcc =
        new ProcessBuilder("gcc", "-O1", "-pg", "-pthread", "-o", program, source.toString())
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
  }

  private static Ran record(String seeds, String output, String... more) {
    List<String> line = new ArrayList<>(List.of("record", "--schedule-seeds", seeds));
    line.addAll(List.of("--quantum", QUANTUM, "--image", program));
    line.addAll(List.of("-o", dir.resolve(output).toString()));
    line.addAll(List.of(more));
    return Ran.retstack(line.toArray(String[]::new));
  }

  private static String resultHash(Path trace) throws Exception {
    Ran ran = Ran.well("report", trace.toString(), "--format", "json");
    return new ObjectMapper().readTree(ran.out()).get("resultHash").asText();
  }

  /** The hash of the result of one seed, recorded by itself. */
  private static String alone(long seed) throws Exception {
    Path trace = dir.resolve("alone.avro");
    List<String> line = List.of("record", "--schedule-seed", Long.toString(seed));
    List<String> rest = List.of("--quantum", QUANTUM, "--image", program, "-o", trace.toString());
    Ran.retstack(Stream.concat(line.stream(), rest.stream()).toArray(String[]::new));
    return resultHash(trace);
  }

  @Test
  void eachWayOfARaceIsFoundAndKeptOnce() throws Exception {
    Ran ran = record("1.." + SEEDS, "race.avro", "--format", "json");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    JsonNode all = new ObjectMapper().readTree(ran.out());
    Map<String, Long> firstOf = new HashMap<>();
    Map<Integer, Integer> ends = new HashMap<>();
    int differ = 0;
    for (JsonNode run : all.get("runs")) {
      String hash = run.get("hash").asText();
      long seed = run.get("seed").asLong();
      boolean isNew = firstOf.putIfAbsent(hash, seed) == null;
      ends.merge(run.get("exitCode").asInt(), 1, Integer::sum);
      assertThat(run.get("like").asLong()).isEqualTo(firstOf.get(hash));
      assertThat(run.has("trace")).as("seed %d is the first of its hash", seed).isEqualTo(isNew);
      assertThat(run.has("does")).as("seed %d differs", seed).isEqualTo(firstOf.get(hash) != 1);
      differ += run.has("does") ? 1 : 0;
      if (isNew) {
        Path trace = Path.of(run.get("trace").asText());
        assertThat(trace.getFileName()).hasToString("race.seed-%d.avro".formatted(seed));
        assertThat(resultHash(trace)).as("seed %d by itself", seed).isEqualTo(alone(seed));
      }
    }
    assertThat(all.get("seeds").asInt()).isEqualTo(SEEDS);
    assertThat(all.get("differ").asInt()).isEqualTo(differ);
    assertThat(all.get("ways").asInt()).isEqualTo(firstOf.size());
    assertThat(ends.keySet()).as("%s: some lose updates, some do not", ends).contains(0, 1);
    assertThat(firstOf).as("a loss that no thread sees is one way").hasSize(2);
    assertThat(ran.out()).contains("enters lost").contains("leaves main");
    try (Stream<Path> files = Files.list(dir)) {
      assertThat(files.filter(file -> file.toString().contains("race.seed-"))).hasSize(2);
    }
    assertThat(ran.err()).contains("next: ").doesNotContain("did not stop");
  }

  @Test
  void textSaysHowManyDifferAndCsvHasARowForEach() {
    Ran text = record("1..3", "text.avro");
    assertThat(text.out()).startsWith("# 3 seeds of 3: ").contains("seed  exitCode  end");
    Ran csv = record("1..3", "csv.avro", "--format", "csv");
    assertThat(csv.out().lines()).hasSize(4);
    assertThat(csv.out()).startsWith("seed,exitCode,end,records,hash,like,task,time,does");
    assertThat(record("1.." + SEEDS, "code.avro", "--exit-code").code()).isEqualTo(1);
  }

  /** Each trace is held from its first byte until all of them have their pyramids. */
  @Test
  void aSecondRecordingIntoItsFilesIsRefused() throws Exception {
    Path second = dir.resolve("held.seed-2.avro");
    try (TraceClaim _ = TraceClaim.of(second)) {
      Ran ran = record("1..3", "held.avro");
      assertThat(ran.code()).isEqualTo(ExitCode.ENVIRONMENT);
      assertThat(ran.err()).contains("another recording is being written there");
      assertThat(second).exists();
    }
    CompletableFuture<Ran> ran =
        CompletableFuture.supplyAsync(() -> record("1.." + SEEDS, "held.avro"));
    while (!Files.exists(dir.resolve("held.seed-3.avro"))) {
      assertThat(ran).isNotDone();
      Thread.onSpinWait();
    }
    assertThatThrownBy(() -> TraceClaim.of(dir.resolve("held.seed-1.avro")))
        .hasMessageContaining("another recording is being written there");
    assertThat(ran.join().code()).isEqualTo(ExitCode.OK);
    TraceClaim.of(dir.resolve("held.seed-1.avro")).close();
  }

  @Test
  void whatWouldMakeRunsDependOnEachOtherIsRefused() {
    assertThat(record("1..3", "no.avro", "--cores", "2").err())
        .contains("--cores cannot be used with --schedule-seeds");
    assertThat(record("1..3", "no.avro", "--image", program).err()).contains("give one --image");
    for (String range : List.of("3..1", "1..2000000", "5", "a..b")) {
      Ran ran = record(range, "no.avro");
      assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
      assertThat(ran.err()).contains("'%s' is not a range of seeds".formatted(range));
    }
    Ran format = Ran.retstack("record", "--image", program, "-o", "no.avro", "--format", "csv");
    assertThat(format.err()).contains("--format: only with --schedule-seeds");
  }
}
