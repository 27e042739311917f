package dev.retstack.benchmarks;

import dev.retstack.graph.aggregate.ApplyResult;
import dev.retstack.graph.aggregate.CoreKey;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.GraphListener;
import dev.retstack.graph.reconstruct.ImageTraits;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.reconstruct.ChunkApplier;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
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
  private static final int DEPTH_MAX = Chunks.DEPTH_MAX;

  /** As in the service: a call that is kept in the tree costs several times as much. */
  private static final GraphLimits LIMITS =
      GraphLimits.DEFAULT.withTreeCallsPerCore(PipelineConfig.TREE_CALLS_PER_CORE);

  @Param({"w200", "fib"})
  public String workload;

  private Series series;
  private List<RecordBatch> batches;
  private List<ChunkMeta> metas;
  private int next;
  private CoreReconstructor reconstructor;
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

  /** Reconstruction alone: calls are found, and nobody listens. */
  @Benchmark
  public boolean reconstruct() {
    int at = turn();
    if (at == 0) {
      reconstructor =
          new CoreReconstructor(
              traits(series.image()), DEPTH_MAX, 1, Deaf.LISTENER, StateBudget.UNLIMITED.open(0));
    }
    return reconstructor.apply(metas.get(at), batches.get(at));
  }

  /** Reconstruction and aggregates. */
  @Benchmark
  public ApplyResult apply() {
    int at = turn();
    if (at == 0) {
      state = new GraphState(LIMITS);
      new ChunkApplier(state).image(series.image());
    }
    return state.apply(metas.get(at), key, series.image().getBuildId(), batches.get(at));
  }

  /** All that the pipeline does with a chunk: checks, unpacking, reconstruction, aggregates. */
  @Benchmark
  public ApplyResult decodeAndApply() throws CorruptChunkException {
    int at = turn();
    if (at == 0) {
      applier = new ChunkApplier(new GraphState(LIMITS));
      applier.image(series.image());
    }
    return applier.apply(series.chunks().get(at));
  }

  private int turn() {
    next = next + 1 < batches.size() ? next + 1 : 0;
    return next;
  }

  private static ImageTraits traits(Image image) {
    return new ImageTraits(
        image.getFpCheck(),
        image.getRetpCheck(),
        image.getReturnToHandlerStart(),
        image.getReturnToHandlerEnd());
  }

  private static ChunkMeta meta(Chunk chunk) {
    return ChunkMeta.running(
        chunk.getSequence(),
        chunk.getRecordsBefore(),
        chunk.getFirstTime(),
        chunk.getLastTime(),
        ClockUnit.INSTRUCTIONS);
  }

  private enum Deaf implements GraphListener {
    LISTENER;

    @Override
    public void entered(int slot, int parent, int caller, long selfPc, long time) {}

    @Override
    public void finished(int slot, int parent, long time, Ending ending) {}

    /** None: each is told of. */
    @Override
    public int linked(RecordBatch batch, int first, int parent, int room, IntArrayList opened) {
      return first;
    }

    @Override
    public void called(int parent, int caller, long selfPc, long fromPc, long time) {}

    @Override
    public void systemCall(int parent, long number, long time) {}

    @Override
    public void systemCallEnded(long result, long time, Ending ending) {}

    @Override
    public void mark(int parent, long what, long selfPc, long command, long time, LongList stack) {}

    @Override
    public void values(int depth, long... values) {}

    @Override
    public void next() {}

    @Override
    public void lost(Loss loss) {}

    @Override
    public void settled() {}

    @Override
    public void holeOpened(int slot) {}

    @Override
    public void holeClosed(int slot, long since, long now) {}

    @Override
    public void bounded(int slot, long now) {}

    @Override
    public boolean found(AnomalyKind kind, long selfPc, long place, long time, long count) {
      return false;
    }

    @Override
    public void anomaly(Anomaly anomaly) {}

    @Override
    public void count(Stat stat, long amount) {}
  }
}
