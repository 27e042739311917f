package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.export.GraphText;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.coverage.CoverageBuilder;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.top.StateTotals;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * More cores than the budget holds: those that rest and wake are, in every answer and byte for byte
 * in the log of the state, what they would be had they stayed in memory. {@code
 * -Dretstack.resting.seeds=N} runs N seeds.
 */
class RestingCoresTest {
  private static final int SEEDS = 4;
  private static final int CORES = 48;
  private static final int[] TREES = {0, 40, 200};

  /** In which all cores stay. */
  private static final long ROOMY = 1L << 40;

  /** What half of them take. */
  private static final long TIGHT = 1 << 20;

  /** Of a member with other states: a core may have a fifth of what is left, which is enough. */
  private static final long MEMBER = 16 << 20;

  @Test
  void coresThatRestAreWhatTheyWouldBeInMemory() {
    long[] seen = new long[2];
    Seeds.each("retstack.resting.seeds", SEEDS, seed -> run(seed, seen));
    assertThat(seen[0]).as("cores at rest").isPositive();
    assertThat(seen[1]).as("restarts").isPositive();
  }

  private static void run(long seed, long[] seen) {
    SplittableRandom random = new SplittableRandom(seed);
    GraphLimits limits =
        GraphLimits.DEFAULT
            .but()
            .treeCallsPerCore(TREES[random.nextInt(TREES.length)])
            .anomaliesPerKind(5)
            .tasks(8)
            .functions(200)
            .edges(300)
            .build();
    GraphState roomy = state(limits, new StateBudget(ROOMY, 0));
    GraphState tight = state(limits, tight());
    Map<String, byte[]> log = new TreeMap<>();
    Map<String, byte[]> tightLog = new TreeMap<>();
    List<List<ModelChunk>> waiting = chunks(random);
    while (!waiting.isEmpty()) {
      List<ModelChunk> of = waiting.get(random.nextInt(waiting.size()));
      ModelChunk chunk = of.removeFirst();
      waiting.removeIf(List::isEmpty);
      var expected = roomy.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch());
      assertThat(tight.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch()))
          .isEqualTo(expected);
      switch (random.nextInt(100)) {
        // of copies: a tree that is looked at where it stands is packed anew
        case 0 -> assertThat(answers(copy(tight, limits))).isEqualTo(answers(copy(roomy, limits)));
        case 1, 2, 3 -> {
          write(roomy, log);
          write(tight, tightLog);
          assertThat(full(tight)).as("left out for want of room").isZero();
          equal(tightLog, log);
        }
        case 4 -> {
          write(roomy, log);
          write(tight, tightLog);
          tight.close();
          tight = read(tightLog, limits, tight());
          seen[1]++;
        }
        default -> {}
      }
      assertThat(tight.bytes()).isLessThanOrEqualTo(TIGHT);
    }
    assertThat(roomy.resting()).isZero();
    seen[0] += tight.resting();
    assertThat(full(tight)).as("left out for want of room").isZero();
    write(roomy, log);
    write(tight, tightLog);
    equal(tightLog, log);
    String answers = answers(roomy);
    assertThat(answers(tight)).isEqualTo(answers);
    assertThat(answers(read(tightLog, limits, tight()))).as("read from the log").isEqualTo(answers);
    assertThat(answers(copy(tight, limits))).as("of a copy").isEqualTo(answers);
  }

  private static List<List<ModelChunk>> chunks(SplittableRandom random) {
    List<List<ModelChunk>> chunks = new ArrayList<>();
    Faults faults = Faults.any(random);
    for (int i = 0; i < CORES; i++) {
      Workload workload = Workload.any(random).withDefects(random.nextInt(3) * 10);
      CoreKey key = new CoreKey("session" + i % 2, "core" + i);
      ModelCore core = new ModelCore(key, new ModelProgram(random.split(), workload).run());
      chunks.add(new ArrayList<>(faults.deliver(core, 50 + random.nextInt(600)).chunks()));
    }
    chunks.removeIf(List::isEmpty);
    return chunks;
  }

  /** Cores rest from three quarters on: all but so much of them is held by others. */
  private static StateBudget tight() {
    StateBudget budget = new StateBudget(MEMBER, 0);
    budget.open(0).charge((MEMBER - TIGHT) * 3 / 4);
    return budget;
  }

  private static GraphState state(GraphLimits limits, StateBudget budget) {
    GraphState state = new GraphState(limits, TimeRules.DEFAULT, budget);
    assertThat(state.image(ModelCore.image())).isTrue();
    return state;
  }

  private static long full(GraphState state) {
    return state.stats().get(Stat.STATE_FULL)
        + state.summaries().stream().mapToLong(core -> core.stats().get(Stat.STATE_FULL)).sum();
  }

  private static void write(GraphState state, Map<String, byte[]> log) {
    try {
      state.writeChanges(
          new StateChanges() {
            @Override
            public void put(String key, byte[] part) {
              log.put(key, part);
            }

            @Override
            public void remove(String key) {
              log.remove(key);
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void equal(Map<String, byte[]> got, Map<String, byte[]> want) {
    assertThat(got).containsOnlyKeys(want.keySet());
    want.forEach((key, part) -> assertThat(got.get(key)).as(key).isEqualTo(part));
  }

  private static GraphState read(Map<String, byte[]> log, GraphLimits limits, StateBudget budget) {
    try {
      return GraphState.readFrom(log, limits, budget);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static GraphState copy(GraphState state, GraphLimits limits) {
    try {
      return GraphState.ofCopy(state.copy(), limits, StateBudget.UNLIMITED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All that is shown of a state. */
  private static String answers(GraphState state) {
    try {
      StringBuilder text = new StringBuilder();
      ReportBuilder all = ReportBuilder.of(state);
      var report = all.build();
      text.append(report.resultHash()).append('\n').append(report.cores()).append('\n');
      text.append(all.anomalies()).append('\n').append(all.anomalies(AnomalySum.Query.DEFAULT));
      GraphText.write(all.trees(), List.of(), text);
      text.append(new CoverageBuilder().add(state).build());
      ByteOutput totals = new ByteOutput(1 << 10);
      StateTotals.of(state).writeTo(totals);
      text.append(ByteOutput.hash(totals.take(), 0));
      return text.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
