package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.ModelTracer;
import dev.retstack.simulation.model.RecordLog;
import dev.retstack.simulation.model.Workload;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Defects planted in the records of random programs: each is found, where it was planted, and no
 * other is. {@code -Dretstack.clean=100000000} reads so many records without any.
 */
class AnomalyCampaignTest {
  private static final int CLEAN_RECORDS = 150_000;

  /** Kinds that records alone can show, and that no sane program has. */
  private static final Set<AnomalyKind> DEFECTS =
      EnumSet.of(
          AnomalyKind.FRAME_POINTER_MISMATCH,
          AnomalyKind.RETURN_ADDRESS_MISMATCH,
          AnomalyKind.MISPLACED_EXIT,
          AnomalyKind.MISSED_EXIT,
          AnomalyKind.LOST,
          AnomalyKind.SEQUENCE_GAP,
          AnomalyKind.TRUNCATED);

  /** What must be found. */
  private record Planted(AnomalyKind kind, long time, long selfPc) {
    static Planted of(Anomaly found) {
      return new Planted(found.kind(), found.time(), found.selfPc());
    }
  }

  @Test
  void everyPlantedDefectIsFoundAndNoOther() {
    long[] plants = new long[1];
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          ModelCore core = core(random);
          List<Planted> planted = new ArrayList<>();
          List<long[]> records = plant(core.program().records(), planted, random);
          CoreGraph graph = read(core, records, random);
          List<Planted> found =
              graph.anomalies().rows().stream()
                  .filter(row -> DEFECTS.contains(row.kind()))
                  .map(Planted::of)
                  .toList();
          assertThat(found).containsExactlyInAnyOrderElementsOf(planted);
          behaviour(core, graph);
          plants[0] += planted.size();
        });
    assertThat(plants[0]).isGreaterThan(0);
  }

  @Test
  void nothingIsFoundInCleanRecords() {
    long wanted = Long.getLong("retstack.clean", CLEAN_RECORDS);
    long read = 0;
    for (long seed = 1; read < wanted; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      ModelCore core = core(random);
      CoreGraph graph = read(core, core.program().records(), random);
      assertThat(graph.anomalies().rows())
          .as("seed %d", seed)
          .noneMatch(row -> DEFECTS.contains(row.kind()));
      for (Stat stat :
          List.of(
              Stat.KEYFRAME_MISMATCHES, Stat.STACK_JUMPS, Stat.UNKNOWN_EXITS, Stat.BAD_RECORDS)) {
        assertThat(graph.stats().get(stat)).as("seed %d, %s", seed, stat).isZero();
      }
      behaviour(core, graph);
      read += graph.progress().records();
    }
  }

  /** What is no defect is counted as often as it was: tail calls and longjmps. */
  private static void behaviour(ModelCore core, CoreGraph graph) {
    assertThat(graph.stats().get(Stat.TAIL_CALLS))
        .isEqualTo(core.program().found.getOrDefault(Stat.TAIL_CALLS, 0L));
    assertThat(graph.stats().get(Stat.UNWOUND_CALLS))
        .isEqualTo(core.program().found.getOrDefault(Stat.UNWOUND_CALLS, 0L));
  }

  private static ModelCore core(SplittableRandom random) {
    return new ModelCore(
        new CoreKey("session", "core"), new ModelProgram(random, Workload.any(random)).run());
  }

  private static CoreGraph read(ModelCore core, List<long[]> records, SplittableRandom random) {
    GraphState state =
        new GraphState(
            GraphLimits.DEFAULT.but().treeCallsPerCore(100).anomaliesPerKind(1 << 20).build());
    core.cut(records, random, 1000).forEach(Subject.of(state)::apply);
    return state.core(core.key()).orElseThrow();
  }

  private static List<long[]> plant(
      List<long[]> records, List<Planted> planted, SplittableRandom random) {
    Set<Integer> jumpedAway = tailCalled(records);
    List<long[]> changed = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      long[] r = records.get(i).clone();
      changed.add(r);
      if (random.nextInt(50) > 0) {
        continue;
      }
      if (random.nextInt(4) == 0) {
        boolean last = i + 1 == records.size();
        long[] next = records.get(last ? i : i + 1);
        long alive = last ? r[2] + 1 : next[RecordLog.FRAMES];
        long selfPc = 0x50_0000L + random.nextInt(1000);
        long depth = alive + random.nextInt(3);
        long[] exit = next.clone();
        System.arraycopy(
            new long[] {RecordBatch.EXIT, r[1], depth, selfPc, 0x4000, 0, 0}, 0, exit, 0, 7);
        changed.add(exit);
        planted.add(new Planted(AnomalyKind.MISPLACED_EXIT, r[1], selfPc));
      } else if (r[0] == RecordBatch.EXIT && !jumpedAway.contains(i)) {
        planted.add(new Planted(defect(r, random), r[1], r[3]));
      }
    }
    return changed;
  }

  private static AnomalyKind defect(long[] exit, SplittableRandom random) {
    int field = 4 + random.nextInt(3);
    exit[field] ^= 1L << random.nextInt(Long.SIZE);
    return field == 6 ? AnomalyKind.FRAME_POINTER_MISMATCH : AnomalyKind.RETURN_ADDRESS_MISMATCH;
  }

  /** Exits of frames whose function had jumped away: there is no entry to compare them with. */
  private static Set<Integer> tailCalled(List<long[]> records) {
    Set<Integer> exits = new HashSet<>();
    Map<List<Long>, Boolean> jumped = new HashMap<>();
    for (int i = 0; i < records.size(); i++) {
      long[] r = records.get(i);
      if (r[0] == RecordBatch.EXIT && jumped.getOrDefault(frame(r, r[2]), false)) {
        exits.add(i);
      } else if (r[0] == RecordBatch.ENTRY) {
        jumped.put(frame(r, r[2]), false);
        if (ModelTracer.isHandler(r[4])) {
          jumped.put(frame(r, r[2] - 1), true);
        }
      }
    }
    return exits;
  }

  private static List<Long> frame(long[] record, long depth) {
    return List.of(record[RecordLog.TASK], record[RecordLog.INTERRUPTS], depth);
  }
}
