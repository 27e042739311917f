package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A reader that does not get all chunks of a core. What it tells of calls is compared with what
 * another tells who got them all.
 */
final class LossyReader {
  final GraphState state = new GraphState();
  private final SplittableRandom random;
  private final double share;
  private boolean inGap;
  private boolean allTold = true;
  private long before;

  /** By the time after which a chunk that came begins: when it ends. */
  private final NavigableMap<Long, Long> came = new TreeMap<>();

  LossyReader(SplittableRandom random) {
    this.random = random;
    this.share = random.nextDouble(0.5);
  }

  void chunk(Chunk chunk, RecordBatch batch) {
    boolean lost = random.nextDouble() < share;
    if (!lost) {
      allTold &= !inGap || batch.keyframe() != null;
      state.apply(ChunkApplier.meta(chunk), ChunkApplier.key(chunk), chunk.getImage(), batch);
      came.put(before, chunk.getLastTime());
    }
    inGap = lost;
    before = chunk.getLastTime();
  }

  /** Whether a chunk that came must hold what happened then. */
  private boolean saw(long time) {
    Map.Entry<Long, Long> chunk = came.lowerEntry(time);
    return chunk != null && time < chunk.getValue();
  }

  private record Call(long selfPc, long enter) {}

  /** Nothing is told that is not so, and nothing is left out that was in the chunks. */
  void check(GraphState whole, String how) {
    if (state.cores().isEmpty()) {
      return;
    }
    CoreGraph core = state.cores().iterator().next();
    assertThat(wrong(core)).as("%s, behind losses", how).isEmpty();
    CallTreeLog truth = whole.core(core.key()).orElseThrow().tree();
    CallTreeLog tree = core.tree();
    if (truth.isFull() || tree.isFull()) {
      return;
    }
    Map<Call, Integer> calls = rows(truth);
    Map<Call, Integer> told = rows(tree);
    told.forEach((call, row) -> isTrue(tree, row, truth, calls.get(call), how + ", " + call));
    calls.forEach(
        (call, row) -> {
          if (saw(call.enter)) {
            assertThat(told).as("%s, behind losses", how).containsKey(call);
          }
          if (allTold && saw(call.enter) && saw(truth.exit(row))) {
            Ending ending = tree.ending(told.get(call));
            assertThat(ending.finished() || truth.ending(row) == Ending.UNWOUND)
                .as("%s, %s: %s", how, call, ending)
                .isEqualTo(truth.ending(row).finished());
          }
        });
  }

  private static List<String> wrong(CoreGraph core) {
    List<String> wrong = new ArrayList<>();
    for (Stat stat : List.of(Stat.KEYFRAME_MISMATCHES, Stat.CONTEXTS_DISAGREE, Stat.STACK_JUMPS)) {
      if (core.stats().get(stat) > 0) {
        wrong.add(core.stats().get(stat) + " " + stat.sentence());
      }
    }
    core.anomalies().rows().stream()
        .filter(row -> row.kind() == AnomalyKind.KEYFRAME_MISMATCH)
        .forEach(row -> wrong.add(row.toString()));
    return wrong;
  }

  private static void isTrue(
      CallTreeLog tree, int row, CallTreeLog truth, Integer trueRow, String how) {
    assertThat(trueRow).as("%s was made", how).isNotNull();
    int parent = tree.parent(row);
    if (parent >= 0 && tree.kind(parent) == TreeKind.CALL) {
      int above = truth.parent(trueRow);
      assertThat(above).as(how).isNotNegative();
      assertThat(truth.enter(above)).as(how).isEqualTo(tree.enter(parent));
    }
    if (tree.ending(row).finished()) {
      assertThat(tree.ending(row)).as(how).isEqualTo(truth.ending(trueRow));
      assertThat(tree.exit(row)).as(how).isEqualTo(truth.exit(trueRow));
    } else if (tree.ending(row) == Ending.TRUNCATED) {
      long most = tree.deadBy(row) < 0 ? Long.MAX_VALUE : tree.deadBy(row);
      assertThat(truth.exit(trueRow)).as(how).isBetween(tree.exit(row), most);
    }
  }

  private static Map<Call, Integer> rows(CallTreeLog tree) {
    Map<Call, Integer> rows = new HashMap<>();
    for (int row = 0; row < tree.size(); row++) {
      if (tree.kind(row) == TreeKind.CALL) {
        rows.put(new Call(tree.selfPc(row), tree.enter(row)), row);
      }
    }
    return rows;
  }
}
