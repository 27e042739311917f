package dev.retstack.simulation.model;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A core that ran a model program, and its records cut into chunks. */
public final class ModelCore {
  /** One chunk in this many begins anywhere, and has a keyframe only by chance. */
  private static final int ANYWHERE = 4;

  private final CoreKey key;
  private final ModelProgram program;
  private final Map<Long, TrueCall> byEntry = new HashMap<>();

  public ModelCore(CoreKey key, ModelProgram program) {
    this.key = key;
    this.program = program;
  }

  public CoreKey key() {
    return key;
  }

  public ModelProgram program() {
    return program;
  }

  /** The image of every model program. */
  public static ImageInfo image() {
    return new ImageInfo("cafe", "model.elf", "model", ModelTracer.TRAITS, SymbolTable.EMPTY);
  }

  /** The records, nothing lost, in chunks of at most {@code largest}, some of them empty. */
  public List<ModelChunk> chunks(SplittableRandom random, int largest) {
    return cut(program.records(), random, largest);
  }

  /**
   * These records of the core in chunks. A LOST record that would begin a chunk may instead stand
   * in its envelope. Nearly all chunks begin where a keyframe was noted.
   */
  public List<ModelChunk> cut(List<long[]> records, SplittableRandom random, int largest) {
    return cut(records, random, largest, ANYWHERE);
  }

  /** The records in chunks that all have a keyframe, but for one that is empty. */
  public List<ModelChunk> withKeyframes(SplittableRandom random, int largest) {
    return cut(program.records(), random, largest, Integer.MAX_VALUE);
  }

  private List<ModelChunk> cut(
      List<long[]> records, SplittableRandom random, int largest, int anywhere) {
    List<ModelChunk> chunks = new ArrayList<>();
    long clock = 0;
    long sent = 0;
    int next = 0;
    while (next < records.size()) {
      int end = Math.min(next + random.nextInt(largest + 1), records.size());
      boolean seeks = random.nextInt(anywhere) > 0;
      while (seeks && end < records.size() && program.keyframe(records.get(end)) == null) {
        end++;
      }
      boolean marker = next < end && records.get(next)[0] == RecordBatch.LOST;
      long lostBefore = marker && random.nextBoolean() ? records.get(next++)[3] : 0;
      long[] at = records.get(Math.min(next, records.size() - 1));
      chunks.add(
          chunk(chunks.size(), sent, lostBefore, records.subList(next, end), clock)
              .in(at[RecordLog.TASK], (int) at[RecordLog.INTERRUPTS]));
      if (next < end) {
        chunks.getLast().batch().setKeyframe(program.keyframe(records.get(next)));
      }
      clock = records.get(Math.max(end, 1) - 1)[1];
      sent += end - next;
      next = end;
    }
    ModelChunk last = chunk(chunks.size(), sent, 0, List.of(), clock);
    ChunkMeta m = last.meta();
    ChunkMeta end =
        new ChunkMeta(
            m.sequence(),
            m.recordsBefore(),
            m.lostBefore(),
            program.overruns(),
            0,
            0,
            m.firstTime(),
            program.clock(),
            m.unit(),
            CoreEnd.HALTED,
            "exit code 0",
            program.task(),
            program.interrupts());
    chunks.add(new ModelChunk(key, last.imageId(), end, last.batch()));
    return chunks;
  }

  /** The true call that began at this time, null where none did. */
  public TrueCall callAt(long enter) {
    if (byEntry.isEmpty()) {
      program.calls.forEach(call -> byEntry.put(call.enter, call));
    }
    return byEntry.get(enter);
  }

  private ModelChunk chunk(
      int sequence, long before, long lostBefore, List<long[]> records, long clock) {
    RecordBatch batch = new RecordBatch(records.size());
    for (long[] r : records) {
      batch.add((byte) r[0], r[1], (int) r[2], r[3], r[4], r[5], r[6]);
    }
    boolean empty = records.isEmpty();
    ChunkMeta meta =
        new ChunkMeta(
            sequence,
            before,
            lostBefore,
            0,
            0,
            empty ? clock : records.getFirst()[1],
            empty ? clock : records.getLast()[1],
            ClockUnit.INSTRUCTIONS,
            CoreEnd.RUNNING,
            "");
    return new ModelChunk(key, image().id(), meta, batch);
  }
}
