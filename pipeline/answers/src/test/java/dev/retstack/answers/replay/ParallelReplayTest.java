package dev.retstack.answers.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The number of threads does not change a result. */
class ParallelReplayTest {
  private static final long SEED = Seeds.fresh();

  @TempDir private Path dir;
  private final Random random = new Random(SEED);

  private Path write(List<CoreScript> fleet, List<Chunk> chunks) throws IOException {
    Path file = Files.createTempFile(dir, "trace", ".avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      for (CoreScript core : fleet) {
        writer.write(core.image());
      }
      for (Chunk chunk : chunks) {
        writer.write(chunk);
      }
    }
    return file;
  }

  private static void sameInAnyThreads(Path file, Supplier<GraphState> states) throws IOException {
    GraphState one = read(file, states.get(), 1);
    for (int threads : new int[] {2, 7}) {
      same(one, read(file, states.get(), threads));
    }
  }

  private static void same(GraphState one, GraphState read) {
    ReportBuilder expected = ReportBuilder.of(one);
    ReportBuilder shown = ReportBuilder.of(read);
    assertThat(shown.build()).as("seed %d", SEED).isEqualTo(expected.build());
    assertThat(shown.trees().toString()).as("seed %d", SEED).isEqualTo(expected.trees().toString());
    assertThat(shown.anomalies()).as("seed %d", SEED).isEqualTo(expected.anomalies());
  }

  private static GraphState read(Path file, GraphState state, int threads) throws IOException {
    return TraceReplay.read(file, state, threads, TraceReplay.Progress.SILENT).state();
  }

  @Test
  void aFleetAndACoreAlone() throws IOException {
    for (int cores : new int[] {5, 1}) {
      List<CoreScript> fleet = RandomFleet.of(random.nextInt(), cores, 6_000);
      Path file = write(fleet, RandomFleet.byTurns(fleet));
      sameInAnyThreads(file, GraphState::new);
      sameInAnyThreads(file, () -> GraphState.byTask(GraphLimits.DEFAULT, TimeRules.DEFAULT));
      sameInAnyThreads(file, () -> new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0)));
    }
  }

  /** Several chunks of a core are rebuilt at once, from a keyframe on. */
  @Test
  void segmentsOfACore() throws IOException {
    AtomicLong joined = new AtomicLong();
    for (int cores : new int[] {1, 2, 9}) {
      List<CoreScript> fleet = RandomFleet.withKeyframes(random.nextInt(), cores, 9_000);
      Path file = write(fleet, RandomFleet.byTurns(fleet));
      for (int tree : new int[] {0, 10, 1_000}) {
        GraphLimits limits = GraphLimits.DEFAULT.withTreeCallsPerCore(tree);
        GraphState one = read(file, new GraphState(limits), 1);
        for (int records : new int[] {1, 500, 2_000, 1 << 20}) {
          GraphState state = new GraphState(limits);
          assertThat(
                  ParallelReplay.read(
                      file, state, 3, records, joined::addAndGet, TraceReplay.Progress.SILENT))
              .isPresent();
          same(one, state);
        }
      }
    }
    assertThat(joined).as("segments joined, seed %d", SEED).hasPositiveValue();
  }

  @Test
  void chunksThatAreMissingLateOrDouble() throws IOException {
    for (int i = 0; i < 10; i++) {
      List<CoreScript> fleet = RandomFleet.of(random.nextInt(), 4, 3_000);
      List<Chunk> some = RandomFleet.byTurns(fleet);
      some.removeIf(_ -> random.nextInt(10) == 0);
      sameInAnyThreads(write(fleet, some), GraphState::new);
      if (i % 2 == 0) {
        some.addAll(some.subList(0, some.size() / 10));
      }
      for (int swap = 0; swap < 5; swap++) {
        Collections.swap(some, random.nextInt(some.size()), random.nextInt(some.size()));
      }
      sameInAnyThreads(write(fleet, some), GraphState::new);
    }
  }

  @Test
  void limitsThatOneStateWouldMeet() throws IOException {
    List<CoreScript> fleet = RandomFleet.of(random.nextInt(), 4, 3_000);
    Path file = write(fleet, RandomFleet.byTurns(fleet));
    for (int most : new int[] {1, 2, 3, 5}) {
      GraphLimits limits = GraphLimits.DEFAULT.but().functions(most).edges(most).build();
      sameInAnyThreads(file, () -> new GraphState(limits));
      sameInAnyThreads(file, () -> new GraphState(GraphLimits.DEFAULT.but().cores(most).build()));
    }
  }

  @Test
  void aChangedFileGivesNothingAndNoThreadIsLeft() throws IOException {
    List<CoreScript> fleet = RandomFleet.of(random.nextInt(), 4, 3_000);
    Path file = write(fleet, RandomFleet.byTurns(fleet));
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 4;
    Files.write(file, bytes);
    assertThatThrownBy(
            () -> TraceReplay.read(file, new GraphState(), 7, TraceReplay.Progress.SILENT))
        .isInstanceOf(CorruptTraceException.class);
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("replay-"));
  }
}
