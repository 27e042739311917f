package dev.retstack.service.replay;

import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.service.partition.ChunkApplier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A recorded trace through the same code as the live pipeline. A file that was cut off gives what
 * is before the cut, and a stat that says so. A file that was changed gives an exception and no
 * result. A core whose chunk makes reconstruction fail is broken there, as in the live pipeline;
 * this takes two more passes.
 */
public final class TraceReplay {
  private TraceReplay() {}

  /** Hears how far a replay came. */
  public interface Progress {
    /** Nothing wants to be told. */
    Progress SILENT = (_, _) -> {};

    /**
     * A chunk was applied.
     *
     * @param chunks chunks so far
     * @param records records so far
     */
    void advanced(long chunks, long records);
  }

  /**
   * What a file gave.
   *
   * @param state ready for reports
   * @param truncation one sentence that says where the file was cut off; empty = it is whole
   */
  public record Replayed(GraphState state, String truncation) {
    /** Whether the file was cut off. */
    public boolean truncated() {
      return !truncation.isEmpty();
    }
  }

  /**
   * Reads a whole trace under the default limits.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   */
  public static Replayed read(Path file, Progress progress) throws IOException {
    return read(file, GraphLimits.DEFAULT, progress);
  }

  /**
   * Reads a whole trace.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Replayed read(Path file, GraphLimits limits, Progress progress) throws IOException {
    return read(file, new GraphState(limits), progress);
  }

  /**
   * Reads a whole trace into a state, which has limits and rules of time of its own.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Replayed read(Path file, GraphState state, Progress progress) throws IOException {
    Map<CoreKey, BrokenCoreException> broken = new LinkedHashMap<>();
    GraphState filled = state;
    while (true) {
      try {
        return read(file, filled, progress, broken.values());
      } catch (BrokenCoreException e) {
        // what it left behind is of no use: once more, without the chunks that do so
        if (isKnown(broken, e)) {
          throw e;
        }
        if (filled == state) {
          find(file, state.blankApart(), broken);
        }
        broken.put(e.key(), e);
        filled = state.blank();
      }
    }
  }

  private static boolean isKnown(Map<CoreKey, BrokenCoreException> broken, BrokenCoreException e) {
    BrokenCoreException known = broken.get(e.key());
    return known != null && known.sequence() <= e.sequence();
  }

  /** Finds in one pass the first chunk of each core that makes reconstruction fail. */
  private static void find(Path file, GraphState apart, Map<CoreKey, BrokenCoreException> broken)
      throws IOException {
    ChunkApplier applier = new ChunkApplier(apart);
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          applier.image(entry.getImage());
        } else if (entry.getChunk() != null
            && !broken.containsKey(ChunkApplier.key(entry.getChunk()))) {
          try {
            apply(applier, entry.getChunk(), file);
          } catch (BrokenCoreException e) {
            broken.putIfAbsent(e.key(), e);
          }
        }
      }
    }
  }

  private static Replayed read(
      Path file, GraphState state, Progress progress, Collection<BrokenCoreException> broken)
      throws IOException {
    ChunkApplier applier = new ChunkApplier(state);
    applier.leaveOut(broken);
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      long chunks = 0;
      long records = 0;
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          applier.image(entry.getImage());
        } else if (entry.getChunk() != null) {
          apply(applier, entry.getChunk(), file);
          records += entry.getChunk().getRecordCount();
          progress.advanced(++chunks, records);
        }
      }
      applier.state().settle();
      if (reader.truncated()) {
        applier.state().count(Stat.CUT_TRACES, 1);
      }
      return new Replayed(applier.state(), reader.truncation());
    }
  }

  private static void apply(ChunkApplier applier, Chunk chunk, Path file) throws IOException {
    try {
      ApplyResult result = applier.apply(chunk);
      if (result == ApplyResult.NEEDS_IMAGE) {
        throw InvalidTraceException.withoutImage(file, chunk);
      }
    } catch (CorruptChunkException e) {
      throw new InvalidTraceException(file + ": " + e.getMessage(), e);
    }
  }
}
