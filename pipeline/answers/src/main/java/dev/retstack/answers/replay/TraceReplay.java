package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.file.IndexedTrace;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TraceIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/**
 * A recorded trace through the same code as the live pipeline. A file that was cut off gives what
 * is before the cut, and a stat that says so. A file that was changed gives an exception and no
 * result. A core whose chunk makes reconstruction fail is broken there, as in the live pipeline;
 * this takes two more passes in one thread, behind those in several.
 */
public final class TraceReplay {
  private TraceReplay() {}

  /** Hears how far a replay came. */
  public interface Progress {
    /** Ignores all progress. */
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
   * @param notice one sentence: where it was cut off, or that its index is wrong; empty = all is
   *     well
   */
  public record Replayed(GraphState state, String notice) {
    /** Of a file that was cut off, the state says so to all that show anything of it. */
    static Replayed of(GraphState state, boolean cut, String notice) {
      if (cut) {
        state.count(Stat.CUT_TRACES, 1);
      }
      return new Replayed(state, notice);
    }

    /** Whether the file, or one that it was made of, was cut off. */
    public boolean isCut() {
      return state.isCut();
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
   * Reads a whole trace into a state, which has its own limits and rules of time.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Replayed read(Path file, GraphState state, Progress progress) throws IOException {
    return read(file, state, Runtime.getRuntime().availableProcessors(), progress);
  }

  /**
   * Reads a whole trace in this number of threads, which does not change the result.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Replayed read(Path file, GraphState state, int threads, Progress progress)
      throws IOException {
    if (threads > 1 && Files.isRegularFile(file)) {
      Optional<Replayed> read = ParallelReplay.read(file, state, threads, progress);
      if (read.isPresent()) {
        return read.get();
      }
    }
    return readAlone(file, state, progress);
  }

  private static Replayed readAlone(Path file, GraphState state, Progress progress)
      throws IOException {
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

  /**
   * A time of a trace.
   *
   * @param core of these cores
   * @param from first time, in the unit of each core
   * @param to last time
   * @param counts whether the cores begin and end with the window, so that only what is in it
   *     counts; where not, calls are whole as far as they were read
   */
  public record Window(Predicate<CoreKey> core, long from, long to, boolean counts) {}

  /**
   * Reads no more of a trace than a window needs: the chunks of it, found by the index, from the
   * last one ahead of it that shows which calls are open. A core with nothing that early gives its
   * first chunk, and all cores do where none is meant. A trace without a right index is read whole,
   * or is read once to make one.
   *
   * @return with one sentence where something is left out behind the window
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Replayed read(Path file, GraphState state, Window window, Progress progress)
      throws IOException {
    if (window.counts()) {
      return count(file, state.anywhere(), window, progress);
    }
    if (Files.isRegularFile(file)) {
      try (IndexedTrace trace = IndexedTrace.open(file)) {
        if (trace.isIndexed() && !trace.index().hasOthers()) {
          Set<TraceIndex.Core> cores = trace.index().cores();
          Replayed read = read(file, trace, state.anywhere(), window, progress);
          if (trace.index().cores().equals(cores)) {
            return read;
          }
          return read(file, state.blank(), progress); // the index was wrong, and left out cores
        }
      } catch (BrokenCoreException e) {
        return read(file, state.blank(), progress);
      }
    }
    return read(file, state, progress);
  }

  private static Replayed read(
      Path file, IndexedTrace trace, GraphState state, Window window, Progress progress)
      throws IOException {
    ChunkApplier applier = new ChunkApplier(state);
    Announced told = new Announced(progress);
    long behind = 0;
    for (TraceIndex.Core core : cores(trace, window)) {
      chunks(
          trace,
          core,
          window,
          chunk -> {
            takeImage(trace, state, chunk, file);
            apply(applier, chunk, file);
            told.advanced(chunk);
          });
      TraceIndex.Range last = trace.index().rangesOf(core).getLast();
      long next =
          state
              .core(new CoreKey(core.session(), core.core()))
              .map(known -> known.progress().nextSequence())
              .orElse(0L);
      behind += Math.max(0, last.sequence() + last.chunks() - next);
    }
    String notice =
        Count.grouped(behind, "chunk behind the window was", "chunks behind the window were")
            + " not read: calls that are shown as open may have ended there";
    String both = trace.notice().isEmpty() ? notice : trace.notice() + "; " + notice;
    return Replayed.of(state, trace.isCut(), behind == 0 ? trace.notice() : both);
  }

  private static Replayed count(Path file, GraphState state, Window window, Progress progress)
      throws IOException {
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      if (trace.index().hasOthers()) {
        throw new InvalidTraceException(
            "%s: its index names %,d cores of more, too many to find a window of; read all of it"
                .formatted(file, trace.index().cores().size()),
            null);
      }
      Announced told = new Announced(progress);
      List<TraceIndex.Core> cores = cores(trace, window);
      int threads = Math.min(cores.size(), Runtime.getRuntime().availableProcessors());
      if (threads > 1 && trace.isIndexed()) {
        if (countInThreads(file, trace, state, cores, window, threads, told)) {
          return Replayed.of(state, trace.isCut(), trace.notice());
        }
      }
      GraphState counted = state;
      for (boolean known = false; !known; ) {
        for (TraceIndex.Core core : cores) {
          count(file, trace, core, counted, counted, window, told);
        }
        List<TraceIndex.Core> now = cores(trace, window);
        known = now.equals(cores);
        if (!known) { // the index was wrong, and left out cores
          counted = state.blank();
          cores = now;
        }
      }
      return Replayed.of(counted, trace.isCut(), trace.notice());
    } catch (BrokenCoreException e) {
      throw new InvalidTraceException(
          "%s: %s; give a window without it, or read all of the trace"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  /**
   * Each thread takes the core that is next into its own state.
   *
   * @return false where it has to be done in one thread, which says what is wrong
   */
  private static boolean countInThreads(
      Path file,
      IndexedTrace trace,
      GraphState state,
      Collection<TraceIndex.Core> cores,
      Window window,
      int threads,
      Announced told)
      throws IOException {
    Queue<TraceIndex.Core> left = new ConcurrentLinkedQueue<>(cores);
    List<GraphState> lanes = Collections.synchronizedList(new ArrayList<>());
    AtomicBoolean wrong = new AtomicBoolean();
    Crew.run(
        threads,
        file,
        () -> {
          GraphState lane = state.blank().named(LateSymbols.NONE).anywhere();
          lanes.add(lane);
          try (IndexedTrace own = trace.another()) {
            for (TraceIndex.Core core = left.poll(); core != null; core = left.poll()) {
              count(file, own, core, state, lane, window, told);
            }
            if (!own.isIndexed()) {
              wrong.set(true);
            }
          } catch (Throwable e) {
            left.clear();
            throw e;
          }
        });
    return !wrong.get() && ParallelReplay.joined(state, lanes);
  }

  /**
   * Counts a window of one core.
   *
   * @param images has the images, under its lock
   */
  private static void count(
      Path file,
      IndexedTrace trace,
      TraceIndex.Core core,
      GraphState images,
      GraphState into,
      Window window,
      Announced told)
      throws IOException {
    CoreKey key = new CoreKey(core.session(), core.core());
    WindowReplay of = new WindowReplay(file.toString(), into, window, key);
    chunks(
        trace,
        core,
        window,
        chunk -> {
          synchronized (images) {
            takeImage(trace, images, chunk, file);
            into.image(images.findImage(chunk.getImage()).orElseThrow());
            chunk.getImages().forEach(other -> images.findImage(other).ifPresent(into::image));
          }
          of.take(chunk);
          told.advanced(chunk);
        });
    of.end(() -> trace.index().rangesOf(core).getLast().lastTime());
  }

  /** The cores that are meant; all, where there is none of these. */
  private static List<TraceIndex.Core> cores(IndexedTrace trace, Window window) {
    List<TraceIndex.Core> wanted =
        trace.index().cores().stream()
            .filter(core -> window.core().test(new CoreKey(core.session(), core.core())))
            .toList();
    return wanted.isEmpty() ? List.copyOf(trace.index().cores()) : wanted;
  }

  private interface Taker {
    void take(Chunk chunk) throws IOException;
  }

  /** A core that begins behind the window gives its first chunk. */
  private static void chunks(IndexedTrace trace, TraceIndex.Core core, Window window, Taker taker)
      throws IOException {
    long begun = trace.index().rangesOf(core).getFirst().firstTime();
    long from = Math.max(window.from(), begun);
    long to = Math.max(window.to(), begun);
    String session = core.session();
    for (TraceIndex.Range at :
        window.counts()
            ? trace.chunksAround(session, core.core(), from, to)
            : trace.chunksFromKeyframe(session, core.core(), from, to)) {
      taker.take(trace.chunk(at));
    }
  }

  static void takeImage(IndexedTrace trace, GraphState state, Chunk chunk, Path file)
      throws IOException {
    if (!state.hasImage(chunk.getImage())) {
      Image image = trace.image(chunk.getImage());
      if (image == null) {
        throw InvalidTraceException.withoutImage(file, chunk);
      }
      state.image(ChunkApplier.info(image));
    }
    for (String other : chunk.getImages()) {
      Image image = state.hasImage(other) ? null : trace.image(other);
      if (image != null) {
        state.image(ChunkApplier.info(image));
      }
    }
  }

  /** Reports how far all threads came together. */
  private static final class Announced {
    private final Progress progress;
    private long chunks;
    private long records;

    Announced(Progress progress) {
      this.progress = progress;
    }

    synchronized void advanced(Chunk chunk) {
      records += chunk.getRecordCount();
      progress.advanced(++chunks, records);
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
      return Replayed.of(applier.state(), reader.isCut(), reader.notice());
    }
  }

  static void apply(ChunkApplier applier, Chunk chunk, Path file) throws IOException {
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
