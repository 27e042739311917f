package dev.retstack.graph.state;

import dev.retstack.graph.Stream;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.schema.record.RecordBatch;

/**
 * Many cores of one big image, each of which calls all of its functions: what the image has must
 * not be had by each core again. It is run in a small heap; what it prints is the bytes it took.
 */
final class FleetHog {
  private static final int CORES = 2_000;
  private static final int FUNCTIONS = 10_000;
  private static final int TREE_CALLS = 100;

  private FleetHog() {}

  public static void main(String[] arguments) {
    GraphState state = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(TREE_CALLS));
    Stream stream = new Stream(state);
    RecordBatch batch = new RecordBatch(2 * FUNCTIONS + 1);
    fill(batch);
    System.gc();
    final long before = used();
    for (int core = 0; core < CORES; core++) {
      CoreKey key = new CoreKey("s", "core" + core);
      long last = batch.time[batch.size() - 1];
      ChunkMeta meta = ChunkMeta.running(0, 0, batch.time[0], last, ClockUnit.INSTRUCTIONS);
      if (state.apply(meta, key, Stream.IMAGE_ID, batch) != ApplyResult.APPLIED) {
        throw new AssertionError("core " + core + " is not taken");
      }
    }
    System.gc();
    System.out.println(used() - before);
    if (stream.state().cores().size() != CORES) {
      throw new AssertionError(CORES + " cores");
    }
  }

  private static long used() {
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** One call that is open, in which each of the others is made once. */
  private static void fill(RecordBatch batch) {
    long time = 1;
    add(batch, RecordBatch.ENTRY, time++, 0, 0);
    for (int function = 1; function <= FUNCTIONS; function++) {
      add(batch, RecordBatch.ENTRY, time++, 1, function);
      add(batch, RecordBatch.EXIT, time++, 1, function);
    }
  }

  private static void add(RecordBatch batch, byte kind, long time, int depth, int function) {
    long self = 0x10_0000L + 0x10L * function;
    long from = depth == 0 ? 0x900 : 0x10_0004L;
    batch.add(kind, time, depth, self, from, Stream.slot(depth), Stream.fp(depth));
  }
}
