package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreReconstructor;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.TrueCall;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Chunks are missing, and each that came tells by its keyframe which calls are open. So exactly
 * those calls are cut off that were known and ended in a gap, and exactly those are adopted that
 * began in a gap and are open behind it.
 */
class KeyframeLossTest {
  private static final int NEVER = Integer.MAX_VALUE;

  /** A call, and the chunks in which it began and ended. */
  private static final class Life {
    final TrueCall call;
    final int begun;
    int ended = NEVER;

    /** The call to which it jumped. */
    Life next;

    Life(TrueCall call, int begun) {
      this.call = call;
      this.begun = begun;
    }

    /** Whether its frame is there where a chunk begins. */
    boolean hasFrame(int chunk) {
      return begun < chunk && (ended >= chunk || (next != null && next.hasFrame(chunk)));
    }
  }

  @Test
  void whatIsOpenBehindALossIsKnownExactly() {
    long[] seen = new long[3];
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (ModelCore core : Cores.any(random, 2, 0)) {
            check(core, random, seen);
          }
        });
    assertThat(seen).as("cut off, adopted, jumped in a gap").doesNotContain(0);
  }

  /** A part of a trace: what was before is known as far as it is open, and is not missing. */
  @Test
  void aWindowHasTheCallsThatAreOpenWhereItBegins() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (ModelCore core : Cores.any(random, 2, 0)) {
            List<ModelChunk> chunks = core.withKeyframes(random, 1 + random.nextInt(60));
            boolean[] came = new boolean[chunks.size()];
            int first = random.nextInt(chunks.size());
            while (!isTold(chunks, first)) {
              first--;
            }
            Arrays.fill(came, first, random.nextInt(first, chunks.size()) + 1, true);
            GraphState state =
                check(core, chunks, came, Subject.of(new GraphState().anywhere()), new long[3]);
            assertThat(ReportBuilder.of(state).build().lost()).isZero();
            assertThat(ReportBuilder.of(state).anomalies())
                .extracting(AnomalyRow::kind)
                .doesNotContain(AnomalyKind.SEQUENCE_GAP, AnomalyKind.TRUNCATED);
          }
        });
  }

  private static void check(ModelCore core, SplittableRandom random, long[] seen) {
    List<ModelChunk> chunks = core.withKeyframes(random, 1 + random.nextInt(60));
    double share = random.nextDouble(0.6);
    boolean[] came = new boolean[chunks.size()];
    for (int i = 0; i < chunks.size(); i++) {
      came[i] = isTold(chunks, i) && random.nextDouble() >= share;
    }
    check(core, chunks, came, Subject.product(), seen);
  }

  private static boolean isTold(List<ModelChunk> chunks, int i) {
    return i == 0 || chunks.get(i).batch().keyframe() != null;
  }

  private static GraphState check(
      ModelCore core, List<ModelChunk> chunks, boolean[] came, Subject subject, long[] seen) {
    List<Life> lives = lives(core, chunks);
    subject.state().events(new OwnTime(core));
    for (int i = 0; i < chunks.size(); i++) {
      if (came[i]) {
        subject.apply(chunks.get(i));
      }
    }
    GraphState state = subject.state();
    Validations.treesAreTrue(state, List.of(core));
    Validations.nothingInvented(ReportBuilder.of(state).build(), List.of(core));
    Map<Long, String> told = new TreeMap<>();
    state.core(core.key()).ifPresent(graph -> told.putAll(rows(graph, seen)));
    assertThat(told).isEqualTo(expected(lives, came, seen));
    return state;
  }

  private static Map<Long, String> rows(CoreGraph graph, long[] seen) {
    Map<Long, String> rows = new TreeMap<>();
    CallTreeLog tree = graph.tree();
    for (int i = 0; i < tree.size(); i++) {
      if (tree.kind(i) == TreeKind.CALL) {
        rows.put(tree.enter(i), text(tree.ending(i), tree.exit(i)));
      }
    }
    CoreReconstructor core = graph.progress();
    assertThat(graph.stats().get(Stat.ADOPTED_CALLS)).isEqualTo(core.adopted());
    assertThat(rows).hasSize(Math.toIntExact(core.entries() + core.adopted()));
    seen[0] += core.ended(Ending.TRUNCATED);
    seen[1] += core.adopted();
    return rows;
  }

  private static String text(Ending ending, long exit) {
    return ending.finished() ? ending + " at " + exit : ending.toString();
  }

  private static Map<Long, String> expected(List<Life> lives, boolean[] came, long[] seen) {
    Map<Long, String> rows = new TreeMap<>();
    for (Life life : lives) {
      int first = next(came, life.begun);
      boolean isKnown = first == life.begun || life.hasFrame(first);
      if (!isKnown || first == NEVER) {
        continue;
      }
      int end = life.ended == NEVER ? NEVER : next(came, life.ended);
      Ending ending = life.call.ending;
      if (end == NEVER) {
        ending = Ending.OPEN;
      } else if (end != life.ended) {
        boolean hasJumped = life.hasFrame(end);
        seen[2] += hasJumped ? 1 : 0;
        ending = hasJumped ? ending : Ending.TRUNCATED;
      }
      rows.put(life.call.enter, text(ending, life.call.exit));
    }
    return rows;
  }

  /** The first chunk from this one on that came. */
  private static int next(boolean[] came, int chunk) {
    int i = chunk;
    while (i < came.length && !came[i]) {
      i++;
    }
    return i < came.length ? i : NEVER;
  }

  /** When each call began and ended, by a reader that loses nothing. */
  private static List<Life> lives(ModelCore core, List<ModelChunk> chunks) {
    Subject whole = Subject.product();
    List<Life> lives = new ArrayList<>();
    Map<TrueCall, Life> byCall = new HashMap<>();
    List<Integer> rows = new ArrayList<>();
    int row = 0;
    for (int chunk = 0; chunk < chunks.size(); chunk++) {
      whole.apply(chunks.get(chunk));
      CallTreeLog tree = whole.state().core(core.key()).orElseThrow().tree();
      for (; row < tree.size(); row++) {
        if (tree.kind(row) == TreeKind.CALL) {
          Life life = new Life(core.callAt(tree.enter(row)), chunk);
          Life caller = byCall.get(life.call.caller);
          if (caller != null && life.call.caller != life.call.parent) {
            caller.next = life;
          }
          lives.add(life);
          byCall.put(life.call, life);
          rows.add(row);
        }
      }
      for (int i = 0; i < lives.size(); i++) {
        if (lives.get(i).ended == NEVER && tree.ending(rows.get(i)) != Ending.OPEN) {
          lives.get(i).ended = chunk;
        }
      }
    }
    return lives;
  }
}
