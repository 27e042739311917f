package dev.retstack.cli.verb;

import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.CallDigest;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What one run of a core did: the calls of each task, in the order of the task. Times and task
 * switches are no part of it, since each schedule has others. Chunks pass through to another sink.
 */
final class CallOrder implements ChunkSink {
  /** Steps of the first run that others are compared with, in memory; 32 MiB. */
  private static final int STEPS_KEPT = 1 << 22;

  /** The first run, which the others are compared with. */
  static final class Reference {
    private final long seed;
    private final Map<Long, LongArrayList> steps = new TreeMap<>();
    private CoreEnding ending;
    private boolean whole = true;
    private int kept;

    Reference(long seed) {
      this.seed = seed;
    }

    long seed() {
      return seed;
    }

    private void keep(long task, long step) {
      if (kept < STEPS_KEPT) {
        steps.computeIfAbsent(task, _ -> new LongArrayList()).add(step);
        kept++;
      } else {
        whole = false;
      }
    }
  }

  /**
   * Where a run parts from the first one.
   *
   * @param task which does so; empty: the program ends in another way
   * @param time of this run
   * @param does what the task does here
   * @param insteadOf what it does in the first run
   */
  record Parting(Optional<Long> task, long time, String does, String insteadOf) {}

  /** What a task did so far. */
  private static final class Task {
    long digest;
    int steps;
  }

  private final ChunkSink sink;
  private final Reference reference;
  private final boolean isFirst;
  private final RecordBatch reuse = new RecordBatch(0);
  private final Map<Long, Task> tasks = new TreeMap<>();
  private SymbolTable names = SymbolTable.EMPTY;
  private Parting parting;
  private long last;

  CallOrder(ChunkSink sink, Reference reference) {
    this.sink = sink;
    this.reference = reference;
    isFirst = reference.ending == null;
  }

  @Override
  public synchronized void image(Image image) throws IOException, InterruptedException {
    if (names.size() == 0) { // the program's own comes first
      names =
          SymbolTable.of(
              image.getSymbols().stream()
                  .map(s -> new SymbolTable.Symbol(s.getName(), s.getAddress(), s.getSize()))
                  .toList());
    }
    sink.image(image);
  }

  @Override
  public synchronized void chunk(Chunk chunk) throws IOException, InterruptedException {
    RecordBatch batch;
    try {
      batch = Chunks.decode(chunk, reuse);
    } catch (CorruptChunkException e) {
      throw new IOException(e);
    }
    long task = chunk.getTask();
    for (int i = 0; i < batch.size(); i++) {
      switch (batch.kind[i]) {
        case RecordBatch.TASK -> task = batch.selfPc[i];
        case RecordBatch.ENTRY, RecordBatch.FUNCTION -> step(task, batch.selfPc[i], batch.time[i]);
        case RecordBatch.EXIT -> step(task, ~batch.selfPc[i], batch.time[i]);
        default -> {}
      }
    }
    last = Math.max(last, chunk.getLastTime());
    sink.chunk(chunk);
  }

  /** A step is the address of a function that is entered, or the complement of one that is left. */
  private void step(long id, long step, long time) {
    Task task = tasks.computeIfAbsent(id, _ -> new Task());
    task.digest = CallDigest.add(task.digest, step);
    if (isFirst) {
      reference.keep(id, step);
    } else if (parting == null) {
      LongArrayList first = reference.steps.getOrDefault(id, LongArrayList.of());
      boolean known = task.steps < first.size();
      if (known && first.getLong(task.steps) != step) {
        parting = new Parting(Optional.of(id), time, words(step), words(first.getLong(task.steps)));
      } else if (!known && reference.whole) {
        parting =
            new Parting(
                Optional.of(id),
                time,
                words(step),
                first.isEmpty() ? "no such task" : "no more calls");
      }
    }
    task.steps++;
  }

  private String words(long step) {
    // addresses of the upper half are those of a kernel: no program of threads has them
    return step < 0 ? "leaves " + names.name(~step) : "enters " + names.name(step);
  }

  @Override
  public synchronized void close() throws IOException {
    sink.close();
  }

  /** The hash of what the core did, now that it ended. */
  synchronized long hash(CoreEnding ending) {
    if (isFirst) {
      reference.ending = ending;
    }
    long hash = CallDigest.add(0, ending.end().name().hashCode());
    hash = CallDigest.add(hash, ending.exitCode());
    for (Map.Entry<Long, Task> task : tasks.entrySet()) {
      hash = CallDigest.add(hash, task.getKey());
      hash = CallDigest.add(hash, task.getValue().digest);
    }
    return hash;
  }

  /** Where this run, which has another hash, parts from the first. */
  synchronized Parting parting(CoreEnding ending) {
    if (parting != null) {
      return parting;
    }
    for (Map.Entry<Long, LongArrayList> first : reference.steps.entrySet()) {
      Task task = tasks.get(first.getKey());
      int steps = task == null ? 0 : task.steps;
      if (steps < first.getValue().size()) {
        String instead = words(first.getValue().getLong(steps));
        return new Parting(Optional.of(first.getKey()), last, "no more calls", instead);
      }
    }
    String end = ending(ending);
    return end.equals(ending(reference.ending))
        ? new Parting(Optional.empty(), last, "another call", "one behind what is compared")
        : new Parting(Optional.empty(), last, end, ending(reference.ending));
  }

  private static String ending(CoreEnding ending) {
    return ending.end() == CoreEnd.HALTED
        ? "exit code " + ending.exitCode()
        : ending.end() + ": " + ending.detail();
  }
}
