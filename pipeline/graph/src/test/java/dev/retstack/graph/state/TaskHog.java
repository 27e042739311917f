package dev.retstack.graph.state;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import java.util.SplittableRandom;

/**
 * A core that opens tasks without end, calls in each, some of them deep, and interrupts nested
 * without end on top of them. It is run in a small heap of its own; what it prints is how many
 * bytes the state took.
 */
final class TaskHog {
  private static final int CHUNKS = 600;
  private static final int RECORDS = 20_000;

  private TaskHog() {}

  public static void main(String[] arguments) {
    GraphState state = new GraphState(GraphLimits.DEFAULT);
    state.image(Stream.IMAGE);
    SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[0]));
    RecordBatch batch = new RecordBatch(RECORDS);
    long before = used();
    long task = 0;
    long time = 0;
    int depth = 0;
    for (int i = 0; i < CHUNKS; i++) {
      batch.clear();
      long first = time + 1;
      while (!batch.isFull()) {
        int what = random.nextInt(16);
        for (int deep = what == 15 ? 1500 : 1; deep > 1 && batch.size() + 1 < RECORDS; deep--) {
          batch.add(RecordBatch.ENTRY, ++time, depth++, Stream.A, 0x900, 0, 0);
        }
        time++;
        if (what < 4) {
          depth = 0;
          boolean started = what < 2;
          long code = (started ? TaskEvent.STARTED : TaskEvent.SWITCHED).code();
          batch.add(RecordBatch.TASK, time, 0, started ? ++task : random.nextLong(), code, 0, 0);
        } else if (what < 10) {
          batch.add(RecordBatch.INTERRUPT_ENTER, time, depth, random.nextInt(), 0x10, 0, 0);
          depth = 0;
        } else {
          batch.add(RecordBatch.ENTRY, time, depth++, Stream.A + what, 0x900, 0, 0);
        }
      }
      ChunkMeta meta =
          ChunkMeta.running(i, (long) i * RECORDS, first, time, ClockUnit.INSTRUCTIONS);
      if (state.apply(meta, Stream.CORE, Stream.IMAGE_ID, batch) != ApplyResult.APPLIED) {
        throw new AssertionError("chunk " + i);
      }
    }
    System.out.println(used() - before);
    CoreGraph core = state.core(Stream.CORE).orElseThrow();
    if (core.progress().tasks().size() > GraphLimits.DEFAULT.tasks()) {
      throw new AssertionError("tasks kept: " + core.progress().tasks().size());
    }
    if (core.stats().get(Stat.FRAMES_NOT_KEPT) == 0) {
      throw new AssertionError("there was room for all frames");
    }
  }

  private static long used() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
