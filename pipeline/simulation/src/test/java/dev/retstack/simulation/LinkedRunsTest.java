package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.TileSource;
import dev.retstack.graph.pyramid.Tiles;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Runs of linked records are taken at once. The result must be the same as call by call. */
class LinkedRunsTest {
  private static final long[] THRESHOLDS = {0, 30, 1000, Long.MAX_VALUE};

  /** Calls of a tree that is soon full. */
  private static final int FULL_TREE = 40;

  private static final int[] TREES = {0, FULL_TREE, 1 << 20};

  @Test
  void linkedRunsGiveTheStateThatSingleRecordsGive() {
    long[] taken = new long[3];
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          GraphLimits limits = limits(random);
          long threshold = THRESHOLDS[random.nextInt(THRESHOLDS.length)];
          int shift = random.nextInt(14);
          Recorder expectedEvents = new Recorder(threshold, shift);
          Recorder events = new Recorder(threshold, shift);
          GraphState expected = state(limits, expectedEvents);
          GraphState subject = state(limits, events);
          Faults faults = Faults.any(random);
          for (ModelCore core : Cores.any(random, 3, random.nextInt(3) * 10)) {
            for (ModelChunk chunk : faults.deliver(core, 1 + random.nextInt(2000)).chunks()) {
              damage(chunk.batch(), random);
              apply(expected, unlinked(chunk));
              apply(subject, chunk);
              count(chunk.batch(), taken);
              Validations.invariants(subject);
            }
            same(subject, expected, limits);
            same(read(subject.copy(), limits), shown(expected, limits), limits);
          }
          assertThat(events.heard).isEqualTo(expectedEvents.heard);
          List<List<Object>> placed = events.placed();
          assertThat(placed).isEqualTo(expectedEvents.placed());
          taken[2] += placed.size();
        });
    assertThat(taken[0]).as("linked records").isGreaterThan(0);
    assertThat(taken[1]).as("other records").isGreaterThan(0);
    assertThat(taken[2]).as("tiles and calls of pyramids").isGreaterThan(0);
  }

  private static GraphLimits limits(SplittableRandom random) {
    GraphLimits d = GraphLimits.DEFAULT;
    boolean tight = random.nextInt(4) == 0;
    return d.but()
        .maxDepth(tight ? 1 + random.nextInt(10) : d.maxDepth())
        .treeCallsPerCore(TREES[random.nextInt(TREES.length)])
        .functions(tight ? random.nextInt(8) : d.functions())
        .edges(tight ? random.nextInt(12) : d.edges())
        .build();
  }

  private static GraphState state(GraphLimits limits, Recorder events) {
    GraphState state = new GraphState(limits);
    state.image(ModelCore.image());
    state.events(events);
    return state;
  }

  /** Which functions beyond the limit are shown of chunks that are held, a restart may change. */
  private static GraphState shown(GraphState state, GraphLimits limits) {
    boolean tight = limits.functions() < GraphLimits.DEFAULT.functions();
    return tight ? read(state.copy(), limits) : state;
  }

  private static void apply(GraphState state, ModelChunk chunk) {
    assertThat(state.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch()))
        .isNotEqualTo(ApplyResult.NEEDS_IMAGE);
  }

  private static void damage(RecordBatch batch, SplittableRandom random) {
    for (int n = random.nextInt(4) * batch.size() / 100; n > 0; n--) {
      int i = random.nextInt(batch.size());
      switch (random.nextInt(5)) {
        case 0 -> batch.time[i] += random.nextInt(-20, 20);
        case 1 -> batch.depth[i] += random.nextInt(-2, 3);
        case 2 -> batch.fp[i] += 16;
        case 3 -> batch.retP[i] -= 16;
        default -> batch.selfPc[i] = batch.selfPc[random.nextInt(batch.size())];
      }
      batch.time[i] = Math.max(0, batch.time[i]);
    }
  }

  private static ModelChunk unlinked(ModelChunk chunk) {
    RecordBatch copy = new RecordBatch(chunk.batch().size());
    copy.addAll(chunk.batch(), 0, chunk.batch().size());
    copy.setKeyframe(chunk.batch().keyframe());
    Arrays.fill(copy.links(), RecordBatch.UNLINKED);
    copy.setLinked();
    return new ModelChunk(chunk.core(), chunk.imageId(), chunk.meta(), copy);
  }

  private static void count(RecordBatch batch, long[] taken) {
    for (int i = 0; batch.isLinked() && i < batch.size(); i++) {
      taken[batch.links()[i] >= 0 ? 0 : 1]++;
    }
  }

  /** Trees that are full are packed, and packed ones are equal in more than one form. */
  private static void same(GraphState subject, GraphState expected, GraphLimits limits) {
    if (limits.treeCallsPerCore() != FULL_TREE) {
      assertThat(subject.copy()).isEqualTo(expected.copy());
    }
    assertThat(rows(subject)).isEqualTo(rows(expected));
    assertThat(ReportBuilder.of(subject).build().resultHash())
        .isEqualTo(ReportBuilder.of(expected).build().resultHash());
    assertThat(ReportBuilder.of(subject).anomalies())
        .isEqualTo(ReportBuilder.of(expected).anomalies());
  }

  private static List<List<Object>> rows(GraphState state) {
    List<List<Object>> rows = new ArrayList<>();
    for (CoreGraph core : state.cores()) {
      CallTreeLog tree = core.tree();
      for (int row = 0; row < tree.size(); row++) {
        rows.add(
            List.of(
                tree.kind(row),
                tree.selfPc(row),
                tree.parent(row),
                tree.enter(row),
                tree.exit(row),
                tree.deadBy(row),
                tree.ending(row),
                tree.arguments(row),
                tree.results(row)));
      }
    }
    return rows;
  }

  private static GraphState read(byte[] snapshot, GraphLimits limits) {
    try {
      return GraphState.ofCopy(snapshot, limits, StateBudget.UNLIMITED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Recorder implements GraphEvents {
    final List<Object> heard = new ArrayList<>();
    private final Map<CoreKey, Pyramid> pyramids = new HashMap<>();
    private final long threshold;
    private final int shift;

    Recorder(long threshold, int shift) {
      this.threshold = threshold;
      this.shift = shift;
    }

    @Override
    public Pyramid pyramid(CoreGraph core) {
      return pyramids.computeIfAbsent(
          core.key(), _ -> Pyramid.of(new Pyramid.Room(Long.MAX_VALUE), shift));
    }

    /** What the pyramids hold, in an order of its own: that of lines depends on who came first. */
    List<List<Object>> placed() {
      List<List<Object>> all = new ArrayList<>();
      pyramids.forEach(
          (key, pyramid) -> {
            Tiles tiles = pyramid.tiles();
            all.add(List.of(key, tiles.leftOut()));
            tiles.read(
                0,
                0,
                Long.MAX_VALUE,
                new TileSource.Sink() {
                  @Override
                  public void tile(
                      int line,
                      long from,
                      long to,
                      long calls,
                      long busy,
                      long selfPc,
                      long enter,
                      long exit) {
                    Line of = tiles.lines().get(line);
                    all.add(List.of(key, of, from, to, calls, busy, selfPc, enter, exit));
                  }

                  @Override
                  public void call(int line, long calls, long selfPc, long enter, long exit) {
                    all.add(List.of(key, tiles.lines().get(line), calls, selfPc, enter, exit));
                  }
                });
          });
      all.sort(Comparator.comparing(Object::toString));
      return all;
    }

    @Override
    public long threshold() {
      return threshold;
    }

    @Override
    public void finished(FinishedCall call) {
      heard.add(call);
    }

    @Override
    public void anomaly(CoreGraph core, Anomaly found) {
      AnomalyRow row = AnomalyRow.of(core, found);
      heard.add(row);
    }
  }
}
