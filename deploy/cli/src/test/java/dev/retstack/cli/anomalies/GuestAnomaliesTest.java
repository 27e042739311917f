package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.StatRow;
import dev.retstack.schema.codec.RecordBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Anomalies planted in guest programs, from the emulated core to the finding: all are found, each
 * once, and nothing else. And programs in which nothing is wrong, on every image of the zoo.
 */
class GuestAnomaliesTest {
  private static final int LIMIT = 100;
  private static final List<String> NOT_CLEAN = List.of("corrupt");

  static List<LoadedImage> zoo() {
    return Zoo.images();
  }

  static List<LoadedImage> realign() throws IOException {
    return images("realign");
  }

  static List<LoadedImage> smashed() throws IOException {
    return images("smashed");
  }

  private static List<LoadedImage> images(String folder) throws IOException {
    try (Stream<Path> files = Files.list(Zoo.GUEST.resolve(folder).resolve("images"))) {
      List<Path> all = files.filter(f -> f.toString().endsWith(".elf")).sorted().toList();
      List<LoadedImage> images = new ArrayList<>();
      for (Path file : all) {
        images.add(LoadedImage.load(file));
      }
      return images;
    }
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void aFramePointerThatIsNotRestored(LoadedImage image) throws Exception {
    GraphState state = Guest.of(image, Guest.checking(), "corrupt");
    long planted = Zoo.checksFramePointers(image) ? 1 : 0;
    assertThat(errors(state))
        .isEqualTo(planted == 0 ? Map.of() : Map.of(Stat.FRAME_POINTER_MISMATCHES, 1L));
    assertThat(of(state, "FRAME_POINTER_MISMATCH"))
        .hasSize((int) planted)
        .allMatch(row -> row.function().startsWith("corrupt_frame"));
  }

  /** In all other programs nothing is wrong, whatever they jump over. */
  @ParameterizedTest
  @MethodSource("zoo")
  void nothingIsWrongInAnyOtherProgram(LoadedImage image) throws Exception {
    for (String program : Zoo.programs(image)) {
      if (!NOT_CLEAN.contains(program)) {
        Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {}, program);
        GraphState state = Guest.of(run);
        assertThat(errors(state)).as(program).isEmpty();
        long open = Guest.entries(run) - Guest.exits(run);
        assertThat(stat(state, Stat.UNWOUND_CALLS) + stat(state, Stat.ENDED_CALLS))
            .as(program)
            .isEqualTo(open);
        assertThat(stat(state, Stat.TAIL_CALLS)).as(program).isEqualTo(Guest.tailCalls(run));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void aStackThatIsFullNamesTheFunctions(LoadedImage image) throws Exception {
    Run whole = Run.of(image, "deep");
    CoreOptions tiny = Guest.checking().withRetStackLimit(LIMIT);
    GraphState state = Guest.of(Run.of(image, tiny, 1_000_000, core -> {}, "deep"));
    long refused = whole.counts().values().stream().mapToLong(n -> n).sum();
    refused -= state.report().functions().stream().mapToLong(f -> f.finished()).sum();
    assertThat(refused).isPositive();
    assertThat(stat(state, Stat.OVERRUNS)).isEqualTo(refused);
    assertThat(errors(state)).isEmpty();
    Map<String, Long> calls =
        state.report().functions().stream()
            .collect(Collectors.toMap(f -> f.name(), f -> f.calls(), Long::sum, TreeMap::new));
    assertThat(calls).isEqualTo(whole.counts());
    assertThat(of(state, "OVERRUN")).isNotEmpty().allMatch(row -> row.selfPc() != 0);
  }

  /** A chunk does not come; and records are dropped at the core, which says so. */
  @ParameterizedTest
  @MethodSource("zoo")
  void recordsThatAreMissing(LoadedImage image) throws Exception {
    long seed = Long.getLong("retstack.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    String how = image.isa().name() + ": -Dretstack.seed=" + seed;
    Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {}, "sort");
    RecordBatch all = run.records();
    int chunk = 1 + random.nextInt(all.size() / 3);
    GraphState gap = Guest.of(run, all, chunk, random.nextInt(all.size() / chunk));
    assertThat(errors(gap))
        .as(how)
        .isEqualTo(Map.of(Stat.GAP_RECORDS, (long) chunk, Stat.GAP_CHUNKS, 1L));
    assertThat(of(gap, "SEQUENCE_GAP")).as(how).hasSize(1);
    int first = random.nextInt(all.size() - 1);
    int lost = 1 + random.nextInt(all.size() - first - 1);
    RecordBatch rest = new RecordBatch(all.size());
    rest.addAll(all, 0, first);
    rest.add(RecordBatch.LOST, all.time[first + lost], 0, lost, 0, 0, 0);
    rest.addAll(all, first + lost, all.size());
    GraphState dropped = Guest.of(run, rest, all.size(), -1);
    assertThat(errors(dropped)).as(how).isEqualTo(Map.of(Stat.LOST_RECORDS, (long) lost));
    assertThat(of(dropped, "LOST")).as(how).hasSize(1);
    long cut = of(dropped, "TRUNCATED").stream().mapToLong(AnomalyRow::count).sum();
    assertThat(stat(dropped, Stat.TRUNCATED_CALLS)).as(how).isEqualTo(cut);
  }

  @ParameterizedTest
  @MethodSource("realign")
  void exitsThatAreMissed(LoadedImage image) throws Exception {
    GraphState state = Guest.of(image, Guest.checking(), "realign");
    List<String> planted =
        Files.readAllLines(
            Zoo.GUEST.resolve(
                "realign/expected/"
                    + image
                        .elf()
                        .file()
                        .orElseThrow()
                        .getFileName()
                        .toString()
                        .replace("realign-", "")
                        .replace(".elf", ".missed")));
    assertThat(
            of(state, "MISSED_EXIT").stream()
                .map(AnomalyRow::function)
                .map(f -> f.replaceFirst("[+]0x.*", "")))
        .hasSameElementsAs(planted)
        .hasSameSizeAs(of(state, "MISSED_EXIT"));
    assertThat(errors(state).keySet()).isSubsetOf(List.of(Stat.MISSED_EXITS));
    assertThat(errors(state).isEmpty()).isEqualTo(planted.isEmpty());
  }

  @ParameterizedTest
  @MethodSource("smashed")
  void returnAddressesThatAreOverwritten(LoadedImage image) throws Exception {
    for (String program : List.of("into_function", "into_block", "into_nowhere")) {
      GraphState state = Guest.of(image, Guest.checking(), program);
      assertThat(errors(state)).as(program).isEqualTo(Map.of(Stat.STACK_SMASHES, 1L));
      AnomalyRow row = of(state, "STACK_SMASHED").getFirst();
      assertThat(row.function()).startsWith("smashed_victim");
      assertThat(row.caller()).startsWith("smashed_outer");
      assertThat(row.message()).contains("return address overwritten: expected smashed_outer+0x");
    }
    GraphState clean = Guest.of(image, Guest.checking(), "jumps");
    assertThat(errors(clean)).isEmpty();
  }

  /** The long run: {@code -Dretstack.clean.records=100000000}. */
  @Test
  void noFalseReportInManyCleanRecords() throws Exception {
    long wanted = Long.getLong("retstack.clean.records", 0);
    Assumptions.assumeTrue(wanted > 0, "skipped: -Dretstack.clean.records=N asks for it");
    long records = 0;
    int runs = 0;
    while (records < wanted) {
      for (LoadedImage image : zoo()) {
        for (String program : Zoo.programs(image)) {
          if (!NOT_CLEAN.contains(program)) {
            String[] arguments =
                program.equals("fib") ? new String[] {"fib", "24"} : new String[] {program};
            Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {}, arguments);
            GraphState state = Guest.of(run);
            assertThat(errors(state)).as(image.isa().name() + " " + program).isEmpty();
            records += run.records().size();
            runs++;
          }
        }
      }
      System.out.printf("clean: %,d records of %,d runs, 0 reports%n", records, runs);
    }
  }

  private static List<AnomalyRow> of(GraphState state, String kind) {
    return state.anomalies().stream().filter(row -> row.kind().name().equals(kind)).toList();
  }

  private static long stat(GraphState state, Stat stat) {
    return state.report().stats().stream()
        .filter(row -> row.stat() == stat)
        .mapToLong(StatRow::count)
        .sum();
  }

  /** Stats of severity ERROR. */
  private static Map<Stat, Long> errors(GraphState state) {
    return state.report().stats().stream()
        .filter(row -> row.severity() == Severity.ERROR)
        .collect(Collectors.toMap(StatRow::stat, StatRow::count));
  }
}
