package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.Tiles;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidLevel;
import dev.retstack.schema.PyramidTask;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramid.WrongPyramidException;
import dev.retstack.schema.file.TracePyramidWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Writes the pyramid of a complete trace into it: one pass over its chunks in one thread, which
 * rebuilds the calls and keeps no tree of them. All tiles are in memory until the end, in a bounded
 * number.
 */
public final class PyramidPass {
  /** Tiles and calls of all cores in memory, of some 50 bytes each. */
  private static final long ENTRIES_MAX = 1 << 20;

  /** Cores that have one. */
  private static final int CORES_MAX = 1 << 13;

  private final Pyramid.Room room = new Pyramid.Room(ENTRIES_MAX);
  private final Map<CoreKey, Pyramid> pyramids = new LinkedHashMap<>();
  private final Map<CoreKey, Set<String>> images = new HashMap<>();

  private PyramidPass() {}

  /**
   * What was written.
   *
   * @param cores with a pyramid
   * @param records of which it was made
   * @param bytes that it takes
   */
  public record Written(int cores, long records, long bytes) {}

  /** A state that hears of each call, and keeps none. */
  public static GraphState state(GraphEvents events) {
    GraphState state = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0)).anywhere();
    state.events(events);
    return state;
  }

  /** Who puts calls into pyramids alone. */
  interface Placing extends GraphEvents {
    @Override
    default long threshold() {
      return Long.MAX_VALUE;
    }

    @Override
    default void finished(FinishedCall call) {}

    @Override
    default void anomaly(CoreGraph core, Anomaly anomaly) {}

    @Override
    Pyramid pyramid(CoreGraph core);
  }

  /**
   * Writes the pyramid, in place of one that may be there. Nobody else writes into the file
   * meanwhile.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException where the file is no complete trace
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Written write(Path file, TraceReplay.Progress progress) throws IOException {
    Files.readAttributes(file, BasicFileAttributes.class); // a claim would make what is not there
    try (TraceClaim claim = TraceClaim.of(file)) {
      return write(claim, progress);
    }
  }

  /**
   * Writes the pyramid of a file that is held already.
   *
   * @throws dev.retstack.schema.file.CorruptTraceException where the file is no complete trace
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Written write(TraceClaim file, TraceReplay.Progress progress) throws IOException {
    PyramidPass pass = new PyramidPass();
    Placing placing = core -> pass.pyramid(core.key());
    GraphState state = state(placing);
    long records;
    try (TraceFileReader reader = file.read()) {
      records = pass.read(file.file(), reader, state, progress);
    }
    List<PyramidCore> cores = new ArrayList<>();
    try (TracePyramidWriter writer = TracePyramidWriter.open(file)) {
      for (CoreGraph core : state.cores()) {
        Pyramid pyramid = pass.pyramids.get(core.key());
        if (pyramid != null && cores.size() < CORES_MAX) {
          Tiles tiles = pyramid.tiles();
          cores.add(pass.core(core, tiles, PyramidBlocks.write(tiles, writer)));
        }
      }
      return new Written(cores.size(), records, writer.finish(cores));
    }
  }

  private Pyramid pyramid(CoreKey key) {
    return pyramids.computeIfAbsent(key, _ -> new Pyramid(room));
  }

  /**
   * Compares the pyramid of a complete trace with its chunks, by making it once more in memory.
   *
   * @param blocks of the cores of the pyramid
   * @throws WrongPyramidException where it is not the one that the chunks give
   * @throws InvalidTraceException when entries do not fit together
   */
  static void compare(
      Path file,
      TracePyramid pyramid,
      Function<PyramidCore, PyramidBlocks> blocks,
      TraceReplay.Progress progress)
      throws IOException, WrongPyramidException {
    PyramidPass pass = new PyramidPass();
    Placing placing = core -> pass.pyramid(core.key());
    GraphState state = state(placing);
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      pass.read(file, reader, state, progress);
    }
    Iterator<PyramidCore> known = pyramid.cores().iterator();
    for (CoreGraph core : state.cores()) {
      Pyramid made = pass.pyramids.get(core.key());
      if (made != null && known.hasNext()) {
        Tiles tiles = made.tiles();
        PyramidCore right = pass.core(core, tiles, List.of());
        PyramidCore one = known.next();
        PyramidBlocks of = blocks.apply(one);
        PyramidCore received = PyramidCore.newBuilder(one).setLevels(List.of()).build();
        if (!right.equals(received) || of.shift() != tiles.shift()) {
          throw pyramid.wrong(
              "expected tiles of length 2^%d of %s, received 2^%d of %s"
                  .formatted(tiles.shift(), right, of.shift(), received));
        }
        of.compare(tiles, 0, Long.MAX_VALUE);
      }
    }
    if (known.hasNext()) {
      throw pyramid.wrong("it has core %s, of which no chunk is".formatted(known.next().getCore()));
    }
  }

  private long read(
      Path file, TraceFileReader reader, GraphState state, TraceReplay.Progress progress)
      throws IOException {
    ChunkApplier applier = new ChunkApplier(state);
    long chunks = 0;
    long records = 0;
    try {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          applier.image(entry.getImage());
          continue;
        }
        Chunk chunk = entry.getChunk();
        if (!chunk.getImages().isEmpty()) {
          images
              .computeIfAbsent(ChunkApplier.key(chunk), _ -> new LinkedHashSet<>())
              .addAll(chunk.getImages());
        }
        TraceReplay.apply(applier, chunk, file);
        records += chunk.getRecordCount();
        progress.advanced(++chunks, records);
      }
    } catch (BrokenCoreException e) {
      throw new InvalidTraceException(
          "%s has no pyramid, as its calls cannot all be rebuilt: %s"
              .formatted(file, e.getMessage()),
          e);
    }
    state.cores().forEach(PyramidPass::closeOpen);
    return records;
  }

  /** Calls that did not end in the trace end with it. */
  public static void closeOpen(CoreGraph core) {
    if (core.progress().end() == CoreEnd.RUNNING) {
      core.closeAt(core.progress().time());
    }
  }

  private static List<PyramidTask> tasks(CoreGraph core) {
    return core.progress().taskNames().entrySet().stream()
        .sorted(Map.Entry.comparingByKey(Long::compareUnsigned))
        .map(
            task ->
                new PyramidTask(task.getKey(), task.getValue().first(), task.getValue().second()))
        .toList();
  }

  private PyramidCore core(CoreGraph core, Tiles tiles, List<PyramidLevel> levels) {
    return new PyramidCore(
        core.key().session(),
        core.key().core(),
        core.image().id(),
        List.copyOf(images.getOrDefault(core.key(), Set.of())),
        core.unit().name(),
        core.progress().time(),
        tiles.leftOut(),
        tasks(core),
        PyramidBlocks.lines(tiles),
        levels);
  }
}
