package dev.retstack.benchmarks;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.pyramid.JobPyramids;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.service.PipelineConfig;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Reconstruction and aggregation; nanoseconds per record. When the series is at its end it begins
 * again with a state that knows nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Series.RECORDS)
public class GraphBenchmark {
  /** Limits of the service: a call that is kept in the tree costs several times as much. */
  private static final GraphLimits LIMITS =
      GraphLimits.DEFAULT.withTreeCallsPerCore(PipelineConfig.TREE_CALLS_PER_CORE);

  private static final long BUDGET_BYTES = 1L << 30;

  @Param({"w200", "fib"})
  public String workload;

  /** What calls go into, too: the tiles of a core, as a member has them; stacks, as for Flame. */
  @Param({"nothing", "tiles", "stacks"})
  public String beside;

  private Series series;
  private List<RecordBatch> batches;
  private List<ChunkMeta> metas;
  private int next;
  private GraphState state;
  private ChunkApplier applier;
  private CoreKey key;

  @Setup
  public void record() throws IOException, InterruptedException, CorruptChunkException {
    series = Series.of(workload);
    batches = series.batches();
    metas = series.chunks().stream().map(GraphBenchmark::meta).toList();
    key = ChunkApplier.key(series.chunks().getFirst());
    next = batches.size();
  }

  /** Reconstruction and aggregates. */
  @Benchmark
  public ApplyResult apply() {
    int at = turn();
    if (at == 0) {
      state = state();
      new ChunkApplier(state).image(series.image());
    }
    return state.apply(metas.get(at), key, series.image().getBuildId(), batches.get(at));
  }

  /** All that the pipeline does with a chunk: checks, unpacking, reconstruction, aggregates. */
  @Benchmark
  public ApplyResult decodeAndApply() throws CorruptChunkException {
    int at = turn();
    if (at == 0) {
      applier = new ChunkApplier(state());
      applier.image(series.image());
    }
    return applier.apply(series.chunks().get(at));
  }

  private GraphState state() {
    GraphState fresh =
        new GraphState(beside.equals("stacks") ? LIMITS.withStacks(1 << 18) : LIMITS);
    if (beside.equals("tiles")) {
      fresh.pyramids(new JobPyramids(new StateBudget(BUDGET_BYTES, 0)));
    }
    return fresh;
  }

  private int turn() {
    next = next + 1 < batches.size() ? next + 1 : 0;
    return next;
  }

  private static ChunkMeta meta(Chunk chunk) {
    return ChunkMeta.running(
        chunk.getSequence(),
        chunk.getRecordsBefore(),
        chunk.getFirstTime(),
        chunk.getLastTime(),
        ClockUnit.INSTRUCTIONS);
  }
}
