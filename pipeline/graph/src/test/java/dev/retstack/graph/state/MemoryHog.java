package dev.retstack.graph.state;

import dev.retstack.graph.Stream;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.ValuesDepth;
import java.util.SplittableRandom;

/**
 * A core that does nothing but make the pipeline's state grow, each way in turn, many times what
 * fits. It is run in a small heap of its own; what it prints is how many bytes the state took.
 */
final class MemoryHog {
  private static final int CHUNKS = 120;
  private static final int RECORDS = 20_000;
  private static final int WAYS = 6;

  private final SplittableRandom random;
  private final RecordBatch batch = new RecordBatch(RECORDS);
  private long time;
  private int depth;

  private MemoryHog(long seed) {
    random = new SplittableRandom(seed);
  }

  public static void main(String[] arguments) {
    GraphState state = new GraphState(GraphLimits.DEFAULT);
    Stream stream = new Stream(state);
    MemoryHog hog = new MemoryHog(Long.parseLong(arguments[0]));
    long before = used();
    long records = 0;
    long sequence = 0;
    for (int i = 0; i < CHUNKS; i++) {
      hog.fill(i % WAYS);
      ChunkMeta meta =
          ChunkMeta.running(sequence, records, hog.batch.time[0], hog.time, ClockUnit.INSTRUCTIONS);
      state.apply(meta, Stream.CORE, Stream.IMAGE_ID, hog.batch);
      sequence += 1 + i % 2; // each second chunk is missing
      records += hog.batch.size() + i % 2;
    }
    System.out.println(used() - before);
    if (stream.state().cores().size() != 1) {
      throw new AssertionError("one core");
    }
  }

  private static long used() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private void fill(int way) {
    batch.clear();
    while (!batch.isFull()) {
      time++;
      switch (way) {
        case 0 -> add(RecordBatch.ENTRY, depth++ % 65_536, function(), function());
        case 1 -> add(RecordBatch.EXIT, random.nextInt(65_536), random.nextLong(), function());
        case 2 -> add(RecordBatch.VALUES, ValuesDepth.of(random.nextInt(256), 4, 0), 1, 2);
        case 3 -> add(RecordBatch.MARK, 0, function(), 1 + random.nextInt(5));
        case 4 -> {
          boolean enter = random.nextBoolean();
          add(enter ? RecordBatch.SYS_ENTER : RecordBatch.SYS_EXIT, 1, random.nextLong(), 1);
        }
        default -> mixed();
      }
    }
  }

  private void mixed() {
    switch (random.nextInt(6)) {
      case 0 -> add(RecordBatch.LOST, 0, 1 + random.nextInt(9), 0);
      case 1 -> add(RecordBatch.FUNCTION, random.nextInt(2) * 65_536, function(), function());
      case 2 -> add(RecordBatch.SMASHED, random.nextInt(65_536), function(), function());
      case 3 -> add(RecordBatch.ENTRY, random.nextInt(64), function(), Stream.HANDLER);
      case 4 -> add(RecordBatch.VALUES, ValuesDepth.of(252, 4, 0), 1, 2);
      default -> add(RecordBatch.ENTRY, random.nextInt(65_536), function(), function());
    }
  }

  private long function() {
    return 0x10_0000L + 16L * random.nextInt(1 << 14);
  }

  private void add(byte kind, int at, long self, long from) {
    batch.add(kind, time, at, self, from, random.nextInt(1 << 20), random.nextInt(1 << 20));
  }
}
