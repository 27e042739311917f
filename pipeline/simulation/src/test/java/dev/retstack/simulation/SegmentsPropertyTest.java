package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.calls.CoreSegment;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A core of which some chunks are rebuilt ahead, from a keyframe on, and joined to it: all that is
 * shown of it is the same as if it had taken one chunk after the other.
 */
class SegmentsPropertyTest {
  private static final int CHUNKS_MOST = 12;

  /** What happened in all seeds. */
  private static final class Seen {
    int joined;
    int refused;
    int inherited;
    int ended;
    int withAnomalies;
  }

  @Test
  void whatIsRebuiltAheadIsWhatTheCoreWouldHaveRebuilt() {
    Seen seen = new Seen();
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (ModelCore core : Cores.any(random, 2, random.nextInt(3) * 15)) {
            List<ModelChunk> chunks = core.withKeyframes(random, 1 + random.nextInt(60));
            check(random, chunks, seen);
          }
        });
    assertThat(seen.joined).as("joined").isPositive();
    assertThat(seen.refused).as("refused").isPositive();
    assertThat(seen.inherited).as("joined with calls open").isPositive();
    assertThat(seen.ended).as("of which some ended").isPositive();
    assertThat(seen.withAnomalies).as("joined with anomalies").isPositive();
  }

  /** Records and keyframes that no core makes: nothing is joined that would show otherwise. */
  @Test
  void whateverIsInTheChunks() {
    Seen seen = new Seen();
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (ModelCore core : Cores.any(random, 1, 20)) {
            List<ModelChunk> chunks = new ArrayList<>();
            for (ModelChunk chunk : core.withKeyframes(random, 1 + random.nextInt(30))) {
              chunks.add(changed(random, chunk));
            }
            check(random, chunks, seen);
          }
        });
    assertThat(seen.joined).as("joined").isPositive();
    assertThat(seen.refused).as("refused").isPositive();
  }

  private static void check(SplittableRandom random, List<ModelChunk> chunks, Seen seen) {
    GraphLimits limits =
        GraphLimits.DEFAULT
            .but()
            .treeCallsPerCore(random.nextInt(4) == 0 ? 0 : random.nextInt(60))
            .functions(random.nextInt(8) == 0 ? 1 + random.nextInt(40) : 1 << 18)
            .edges(random.nextInt(8) == 0 ? random.nextInt(60) : 1 << 20)
            .anomaliesPerKind(1 + random.nextInt(20))
            .maxDepth(random.nextInt(8) == 0 ? 1 + random.nextInt(20) : 65_536)
            .build();
    TimeRules rules =
        new TimeRules(random.nextInt(8) > 0, random.nextInt(8) > 0, random.nextInt(8) > 0);
    GraphState expected = new GraphState(limits, rules);
    GraphState state = new GraphState(limits, rules);
    expected.image(ModelCore.image());
    state.image(ModelCore.image());
    for (int at = 0; at < chunks.size(); ) {
      int end = Math.min(chunks.size(), at + 1 + random.nextInt(CHUNKS_MOST));
      List<ModelChunk> some = chunks.subList(at, end);
      if (random.nextInt(4) == 0 || !joined(state, some, seen)) {
        some.forEach(chunk -> take(state, chunk));
      }
      some.forEach(chunk -> take(expected, chunk));
      at = end;
      same(expected, state);
    }
    same(expected, state);
  }

  private static RecordBatch carried(ModelChunk chunk) {
    return Wire.ALL_CODECS.carry(chunk.meta().sequence(), chunk.batch());
  }

  private static void take(GraphState state, ModelChunk chunk) {
    var _ = state.apply(chunk.meta(), chunk.core(), chunk.imageId(), carried(chunk));
  }

  private static boolean joined(GraphState state, List<ModelChunk> chunks, Seen seen) {
    ModelChunk first = chunks.getFirst();
    RecordBatch batch = carried(first);
    Optional<CoreSegment> segment =
        state.segment(first.core(), ModelCore.image(), first.meta(), batch);
    segment.ifPresent(
        begun -> {
          begun.apply(first.meta(), batch);
          chunks.stream().skip(1).forEach(c -> begun.apply(c.meta(), carried(c)));
        });
    int open = state.core(first.core()).map(core -> core.progress().open()).orElse(0);
    int anomalies = anomalies(state);
    boolean joined = segment.isPresent() && state.join(segment.get());
    seen.joined += joined ? 1 : 0;
    seen.refused += joined ? 0 : 1;
    seen.inherited += joined && open > 0 ? 1 : 0;
    seen.ended += joined && state.core(first.core()).orElseThrow().progress().open() < open ? 1 : 0;
    seen.withAnomalies += joined && anomalies(state) > anomalies ? 1 : 0;
    return joined;
  }

  private static int anomalies(GraphState state) {
    return ReportBuilder.of(state).anomalies().size();
  }

  private static void same(GraphState expected, GraphState state) {
    ReportBuilder right = ReportBuilder.of(expected);
    ReportBuilder shown = ReportBuilder.of(state);
    assertThat(shown.build()).isEqualTo(right.build());
    assertThat(shown.trees().toString()).isEqualTo(right.trees().toString());
    assertThat(shown.anomalies()).isEqualTo(right.anomalies());
  }

  /** Some of its fields are others, of its records, its keyframe or what it says about them. */
  private static ModelChunk changed(SplittableRandom random, ModelChunk chunk) {
    ModelChunk changed = chunk;
    if (random.nextInt(4) == 0 && chunk.batch().size() > 0) {
      change(random, chunk.batch());
    }
    Keyframe keyframe = chunk.batch().keyframe();
    if (random.nextInt(4) == 0 && keyframe != null && keyframe.records().size() > 1) {
      RecordBatch records = new RecordBatch(keyframe.records().size());
      records.addAll(keyframe.records(), 0, records.capacity());
      int i = 1 + random.nextInt(records.size() - 1);
      int change =
          records.kind[i] == RecordBatch.ENTRY ? random.nextInt(4) : 4; // heads are checked
      switch (change) {
        case 0 -> records.selfPc[i] += 0x40;
        case 1 -> records.fromPc[i] += 4;
        case 2 -> records.retP[i] += 8;
        case 3 -> records.fp[i] += 16;
        default -> {}
      }
      chunk.batch().setKeyframe(Keyframe.of(records));
    }
    if (random.nextInt(20) == 0) {
      ChunkMeta m = chunk.meta();
      changed =
          new ModelChunk(
              chunk.core(),
              chunk.imageId(),
              new ChunkMeta(
                  m.sequence(),
                  m.recordsBefore() + random.nextInt(3),
                  m.lostBefore(),
                  m.overruns() + random.nextInt(3),
                  m.unhijackable() + random.nextInt(3),
                  m.abandoned(),
                  m.firstTime(),
                  m.lastTime(),
                  m.unit(),
                  m.end(),
                  m.endDetail(),
                  m.task(),
                  m.interrupts()),
              chunk.batch());
    }
    return changed;
  }

  private static void change(SplittableRandom random, RecordBatch batch) {
    int i = random.nextInt(batch.size());
    switch (random.nextInt(8)) {
      case 0 -> batch.depth[i] = random.nextInt(40);
      case 1 -> batch.selfPc[i] = batch.selfPc[random.nextInt(batch.size())];
      case 2 -> batch.fromPc[i] = batch.fromPc[random.nextInt(batch.size())];
      case 3 -> batch.retP[i] = batch.retP[random.nextInt(batch.size())];
      case 4 -> batch.fp[i] += 8;
      case 5 -> batch.kind[i] = RecordBatch.FUNCTION;
      case 6 -> {
        batch.kind[i] = RecordBatch.TASK_NAME;
        batch.selfPc[i] = random.nextInt(4) == 0 ? 1 : 0;
      }
      default -> batch.kind[i] = RecordBatch.EXIT;
    }
  }
}
