package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Anomalies planted in guest programs, from the emulated core to the finding: all are found, each
 * once, and nothing else. And programs in which nothing is wrong, on every image of the zoo.
 */
class GuestAnomaliesTest {
  /** All programs of each image, else every third, another for the next image. */
  private static final boolean ALL = System.getProperty("retstack.zoo", "").equals("all");

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
    return load(Zoo.GUEST.resolve(folder).resolve("images"));
  }

  private static List<LoadedImage> load(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
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
    assertThat(Guest.errors(state))
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
      boolean some = ALL || new Zoo.Case(image, program).isOfThird();
      if (some && !NOT_CLEAN.contains(program)) {
        Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {}, program);
        GraphState state = Guest.of(run);
        assertThat(Guest.errors(state)).as(program).isEmpty();
        long open = Guest.entries(run) - Guest.exits(run);
        assertThat(Guest.stat(state, Stat.UNWOUND_CALLS) + Guest.stat(state, Stat.ENDED_CALLS))
            .as(program)
            .isEqualTo(open);
        assertThat(Guest.stat(state, Stat.TAIL_CALLS)).as(program).isEqualTo(Guest.tailCalls(run));
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
    refused -=
        ReportBuilder.of(state).build().functions().stream().mapToLong(f -> f.finished()).sum();
    assertThat(refused).isPositive();
    assertThat(Guest.stat(state, Stat.OVERRUNS)).isEqualTo(refused);
    assertThat(Guest.errors(state)).isEmpty();
    Map<String, Long> calls =
        ReportBuilder.of(state).build().functions().stream()
            .collect(Collectors.toMap(f -> f.name(), f -> f.calls(), Long::sum, TreeMap::new));
    assertThat(calls).isEqualTo(whole.counts());
    assertThat(of(state, "OVERRUN")).isNotEmpty().allMatch(row -> row.selfPc() != 0);
  }

  /** A chunk does not come; and records are dropped at the core, which says so. */
  @ParameterizedTest
  @MethodSource("zoo")
  void recordsThatAreMissing(LoadedImage image) throws Exception {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    String how = image.isa().name() + ": -Dretstack.seed=" + seed;
    Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {}, "sort");
    RecordBatch all = run.records();
    int chunk = 1 + random.nextInt(all.size() / 3);
    GraphState gap = Guest.of(run, all, chunk, random.nextInt(all.size() / chunk));
    assertThat(Guest.errors(gap))
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
    assertThat(Guest.errors(dropped)).as(how).isEqualTo(Map.of(Stat.LOST_RECORDS, (long) lost));
    assertThat(of(dropped, "LOST")).as(how).hasSize(1);
    long cut = of(dropped, "TRUNCATED").stream().mapToLong(AnomalyRow::count).sum();
    assertThat(Guest.stat(dropped, Stat.TRUNCATED_CALLS)).as(how).isEqualTo(cut);
  }

  @ParameterizedTest
  @MethodSource("realign")
  void copiesOfAReturnAddressMissNoExit(LoadedImage image) throws Exception {
    GraphState state = Guest.of(image, Guest.checking(), "realign");
    assertThat(Guest.errors(state)).isEmpty();
    assertThat(of(state, "MISSED_EXIT")).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("smashed")
  void returnAddressesThatAreOverwritten(LoadedImage image) throws Exception {
    for (String program : List.of("into_function", "into_block", "into_nowhere")) {
      GraphState state = Guest.of(image, Guest.checking(), program);
      assertThat(Guest.errors(state)).as(program).isEqualTo(Map.of(Stat.STACK_SMASHES, 1L));
      AnomalyRow row = of(state, "STACK_SMASHED").getFirst();
      assertThat(row.function()).startsWith("smashed_victim");
      assertThat(row.caller()).startsWith("smashed_outer");
      assertThat(row.message()).contains("return address overwritten: expected smashed_outer+0x");
    }
    GraphState clean = Guest.of(image, Guest.checking(), "jumps");
    assertThat(Guest.errors(clean)).isEmpty();
  }

  /** Frames that an exception or a jump left: as many as the program says, and no anomaly. */
  @Test
  void whatAnExceptionLeavesIsUnwound(@TempDir Path folder) throws Exception {
    for (LoadedImage image : UnwindGuests.build(folder)) {
      String program = image.elf().name();
      Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {});
      GraphState state = Guest.of(run);
      assertThat(ReportBuilder.of(state).anomalies()).as(program).isEmpty();
      assertThat(Guest.stat(state, Stat.UNWOUND_CALLS)).as(program).isEqualTo(died(run.output()));
      assertThat(Guest.stat(state, Stat.ENDED_CALLS)).as(program).isZero();
    }
  }

  /** Frames that a program says died, those included that had given way: {@code log.h}. */
  private static long died(String output) {
    Deque<String> open = new ArrayDeque<>();
    long died = 0;
    for (String line : output.lines().toList()) {
      String name = line.isEmpty() ? "" : line.substring(1);
      switch (line.isEmpty() ? ' ' : line.charAt(0)) {
        case '+' -> open.push(name);
        case '~' -> open.push(open.pop() + "~");
        case '-' -> {
          open.pop();
          while (!open.isEmpty() && open.getFirst().endsWith("~")) {
            open.pop();
          }
        }
        case '^' -> {
          while (!open.getFirst().equals(name)) {
            open.pop();
            died++;
          }
        }
        default -> {}
      }
    }
    return died;
  }

  /**
   * The long run: {@code -Dretstack.clean.records=100000000}; over other images than those of the
   * zoo {@code -Dretstack.clean.images=DIR}, where {@code build.sh --levels DIR} has made them.
   */
  @Test
  void noFalseReportInManyCleanRecords() throws Exception {
    long wanted = Long.getLong("retstack.clean.records", 0);
    Assumptions.assumeTrue(wanted > 0, "skipped: -Dretstack.clean.records=N asks for it");
    long records = 0;
    int runs = 0;
    while (records < wanted) {
      for (LoadedImage image : cleanImages()) {
        for (String program : Zoo.programs(image)) {
          if (!NOT_CLEAN.contains(program)) {
            String[] arguments =
                program.equals("fib") ? new String[] {"fib", "24"} : new String[] {program};
            Run run = Run.of(image, Guest.checking(), 1_000_000, core -> {}, arguments);
            GraphState state = Guest.of(run);
            assertThat(Guest.errors(state)).as(image.isa().name() + " " + program).isEmpty();
            records += run.records().size();
            runs++;
          }
        }
      }
      System.out.printf("clean: %,d records of %,d runs, 0 reports%n", records, runs);
    }
  }

  private static List<LoadedImage> cleanImages() throws IOException {
    String folder = System.getProperty("retstack.clean.images", "");
    return folder.isEmpty() ? zoo() : load(Path.of(folder));
  }

  private static List<AnomalyRow> of(GraphState state, String kind) {
    return ReportBuilder.of(state).anomalies().stream()
        .filter(row -> row.kind().name().equals(kind))
        .toList();
  }
}
