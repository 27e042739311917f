package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.FunctionNames;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.file.IndexedTrace;
import dev.retstack.schema.file.TraceIndex;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramid.WrongPyramidException;
import dev.retstack.schema.record.TaskName;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Answers what a core of a trace did in a window: from its pyramid, or from the chunks of the
 * window where the pyramid is too coarse for it and they are few. A trace without a right pyramid
 * is answered from the chunks alone.
 *
 * <p>Tiles are compared with the chunks that they were made of: those of a window with few records
 * all at once, those of a longer one in some part of it, drawn anew each time. {@link #compareAll}
 * compares all. Safe for use by several threads.
 */
public final class TraceTimeline implements Closeable {
  /** Records that are read where the pyramid is too coarse: some 20 ms of work. */
  public static final long RECORDS_MAX = 1 << 19;

  /** Records that are compared with the tiles of an answer at most: some milliseconds of work. */
  private static final long COMPARED_MAX = 1 << 15;

  private final Path file;
  private final IndexedTrace trace;
  private final LateSymbols symbols;
  private final KeptNames names;
  private final Map<TraceIndex.Core, Known> cores = new ConcurrentHashMap<>();
  private final Set<String> notices = Collections.synchronizedSet(new LinkedHashSet<>());
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong compared = new AtomicLong();
  private TracePyramid pyramid;
  private final long comparedMax;
  private volatile boolean comparesAll;

  /** A core of the pyramid. */
  private record Known(PyramidCore core, Map<Long, TaskName> tasks, PyramidBlocks blocks) {
    static Map<Long, TaskName> tasks(PyramidCore core) {
      Map<Long, TaskName> tasks = new HashMap<>();
      core.getTasks()
          .forEach(one -> tasks.put(one.getTask(), new TaskName(one.getFirst(), one.getSecond())));
      return tasks;
    }
  }

  private static TraceIndex.Core core(PyramidCore one) {
    return new TraceIndex.Core(one.getSession(), one.getCore());
  }

  /** What an answer was made of. */
  public enum Detail {
    /** Tiles; there is nothing finer, or too many records are in its time. */
    TILES,
    /** Tiles that are longer than a stretch; chunks would show more. */
    COARSE,
    /** Records of the time. */
    CHUNKS
  }

  /**
   * What one core did.
   *
   * @param unit of its times
   * @param last time of its last record, in the window or not
   * @param tasks what they are called, also those that have no name of the program's
   */
  public record Answer(
      CoreKey core,
      ClockUnit unit,
      long last,
      Timeline timeline,
      FunctionNames names,
      TaskNaming tasks,
      Detail detail) {}

  /** What the tasks of a core are called. */
  @FunctionalInterface
  public interface TaskNaming {
    /** As {@link ImageInfo#taskName(long, int, TaskName)}. */
    String name(long task, int instance);

    /** Names tasks as the program does, else as the image does. */
    static TaskNaming of(ImageInfo image, Map<Long, TaskName> called) {
      return (task, instance) ->
          image.taskName(task, instance, called.getOrDefault(task, TaskName.NONE));
    }
  }

  /**
   * How fine an answer is.
   *
   * @param width stretches of time at most
   * @param depth lines of a core at most
   * @param chunks whether chunks are read where there are tiles, but too long ones
   */
  public record Drawing(int width, int depth, boolean chunks) {
    /** The question that this is for a time. */
    public Timeline.Question of(long from, long to) {
      return new Timeline.Question(from, to, width, depth);
    }
  }

  private TraceTimeline(Path file, IndexedTrace trace, LateSymbols symbols, long comparedMax)
      throws IOException {
    this.file = file;
    this.comparedMax = comparedMax;
    this.trace = trace;
    this.symbols = symbols;
    this.names = new KeptNames(symbols);
    try {
      pyramid = trace.pyramid().orElse(null);
      PyramidBlock.Cache cache = new PyramidBlock.Cache(PyramidBlock.Cache.BYTES_MAX);
      for (PyramidCore one : pyramid == null ? List.<PyramidCore>of() : pyramid.cores()) {
        TraceIndex.Core core = core(one);
        long records = records(core, Long.MIN_VALUE, Long.MAX_VALUE);
        cores.put(
            core,
            new Known(one, Known.tasks(one), new PyramidBlocks(pyramid, one, records, cache)));
      }
    } catch (WrongPyramidException e) {
      cores.clear();
      notices.add(e.getMessage());
    }
  }

  /**
   * Opens a trace.
   *
   * @param symbols for images that come without
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   */
  public static TraceTimeline open(Path file, LateSymbols symbols) throws IOException {
    return open(file, symbols, COMPARED_MAX);
  }

  /** Opens a timeline that compares at most this many records for a question. */
  static TraceTimeline open(Path file, LateSymbols symbols, long comparedMax) throws IOException {
    IndexedTrace trace = IndexedTrace.open(file);
    try {
      return new TraceTimeline(file, trace, symbols, comparedMax);
    } catch (IOException | RuntimeException e) {
      trace.close();
      throw e;
    }
  }

  /** The cores of which it can be asked. */
  public Collection<TraceIndex.Core> cores() {
    return trace.index().cores();
  }

  /** Time of the last record of a core. */
  public long lastTime(TraceIndex.Core core) {
    return rangesOf(core).stream().mapToLong(TraceIndex.Range::lastTime).max().orElse(0);
  }

  /** Where the chunks of a core are. */
  public List<TraceIndex.Range> rangesOf(TraceIndex.Core core) {
    return trace.index().rangesOf(core);
  }

  /** Whether it has a pyramid, as far as one was used so far. */
  public boolean hasPyramid() {
    return !cores.isEmpty();
  }

  /** Whether the trace was cut off. */
  public boolean isCut() {
    return trace.isCut();
  }

  /** Sentences for the user. */
  public List<String> notices() {
    Set<String> all = new LinkedHashSet<>(List.of(notices.toArray(String[]::new)));
    if (!trace.notice().isEmpty()) {
      all.add(trace.notice());
    }
    return List.copyOf(all);
  }

  /**
   * Answers a question. The window is cut where the core begins and ends.
   *
   * @param chunks whether they are read where there are tiles, but too long ones
   * @throws InvalidTraceException when entries do not fit together
   */
  public Answer answer(
      TraceIndex.Core core, Timeline.Question asked, boolean chunks, TraceReplay.Progress progress)
      throws IOException {
    Timeline.Question question = clip(core, asked);
    Known known = cores.get(core);
    boolean isCoarse =
        known != null
            && question.shift() < known.blocks().shift()
            && records(core, question.begin(), question.end()) <= RECORDS_MAX;
    if (known == null || (isCoarse && chunks)) {
      if (known == null && pyramid == null && notices.isEmpty()) {
        notices.add(
            "%s has no pyramid, so that all chunks of a window are read: retstack index %s writes one"
                .formatted(file, file));
      }
      return replay(core, question, progress);
    }
    try {
      ImageInfo image = named(known.core());
      Timeline timeline = Timeline.of(known.blocks(), question);
      if (chunks && !comparesAll) {
        confirm(core, known, question);
      }
      return new Answer(
          new CoreKey(core.session(), core.core()),
          unit(known.core()),
          lastTime(core),
          timeline,
          image.names(),
          TaskNaming.of(image, known.tasks()),
          isCoarse ? Detail.COARSE : Detail.TILES);
    } catch (PyramidBlocks.WrongBlockException | WrongPyramidException e) {
      distrust(e);
      return replay(core, question, progress);
    }
  }

  private void distrust(Exception e) {
    notices.add(e.getMessage());
    cores.clear();
  }

  /** From now on answers are not compared with chunks one by one: {@link #compareAll} follows. */
  public void willCompareAll() {
    comparesAll = true;
  }

  /**
   * Compares the whole pyramid with all chunks; one that is wrong answers no more.
   *
   * @throws InvalidTraceException when entries do not fit together
   */
  public void compareAll(TraceReplay.Progress progress) throws IOException {
    Map<TraceIndex.Core, Known> all = Map.copyOf(cores);
    if (all.isEmpty()) {
      return;
    }
    try {
      PyramidPass.compare(file, pyramid, one -> all.get(core(one)).blocks(), progress);
    } catch (WrongPyramidException e) {
      distrust(e);
    }
  }

  /** How much of what answers are made of was compared, in a sentence; empty where all was. */
  public String remark() {
    return used.get() == compared.get()
        ? ""
        : "the tiles of %,d of %,d records were compared with their chunks: retstack view compares all, retstack index makes all anew"
            .formatted(compared.get(), used.get());
  }

  /**
   * Compares the tiles of a window, and those around that its first and last pixels may have parts
   * in, with the chunks; where these have too many records, a part of them that is drawn.
   */
  private void confirm(TraceIndex.Core core, Known known, Timeline.Question question)
      throws IOException, WrongPyramidException {
    long around = 2L << Math.max(known.blocks().shift(), question.shift());
    long from = Math.max(0, question.begin() - around);
    long to = Math.min(lastTime(core), Saturating.sum(question.end(), around));
    long records = records(core, from, to);
    used.addAndGet(records);
    compared.addAndGet(Math.min(records, comparedMax));
    if (records > comparedMax) {
      long length = (long) ((double) (to - from) / records * comparedMax);
      from += ThreadLocalRandom.current().nextLong(Math.max(1, to - from - length));
      to = from + length;
    }
    int shift = known.blocks().shift();
    CoreKey key = new CoreKey(core.session(), core.core());
    TileReplay replay = new TileReplay(key, to, symbols, shift);
    Read read = read(core, from, to, replay.state(), (_, _) -> {});
    TraceIndex.Range first = read.chunks().getFirst();
    TraceIndex.Range last = read.chunks().getLast();
    boolean begins = first.position() == rangesOf(core).getFirst().position();
    boolean ends = last.lastTime() == lastTime(core);
    long rest = (1L << shift) - 1;
    long begin = begins ? 0 : (first.firstTime() | rest) + 1 + rest + 1;
    long end = ends ? Long.MAX_VALUE : (last.lastTime() & ~rest) - 2 * (rest + 1);
    String wrong = replay.difference(known.core(), known.tasks(), ends);
    if (!known.core().getImages().containsAll(read.images())) {
      wrong = "expected images %s, received %s".formatted(read.images(), known.core().getImages());
    }
    if (!wrong.isEmpty()) {
      throw pyramid.wrong("core %s, %s".formatted(core.core(), wrong));
    }
    if (begin < end) {
      known.blocks().compare(replay.tiles(), begin, end);
    }
  }

  private Timeline.Question clip(TraceIndex.Core core, Timeline.Question asked) {
    long first = Long.MAX_VALUE;
    for (TraceIndex.Range range : rangesOf(core)) {
      first = Math.min(first, range.firstTime());
    }
    return clip(asked, first, lastTime(core));
  }

  /** The part of a question that is in the life of a core; all of it where none is. */
  public static Timeline.Question clip(Timeline.Question asked, long first, long last) {
    if (asked.to() < first || asked.from() > last) {
      return asked;
    }
    return new Timeline.Question(
        Math.max(asked.from(), Math.max(0, first)),
        Math.min(asked.to(), last),
        asked.width(),
        asked.depth());
  }

  /** About how many records are in a window: no less than there are. */
  public long records(TraceIndex.Core core, long from, long to) {
    return rangesOf(core).stream()
        .filter(range -> range.firstTime() <= to && range.lastTime() >= from)
        .mapToLong(TraceIndex.Range::records)
        .sum();
  }

  private ImageInfo named(PyramidCore known) throws IOException, WrongPyramidException {
    return names
        .of(known.getImage(), new LinkedHashSet<>(known.getImages()), this::image)
        .orElseThrow(
            () ->
                pyramid.wrong(
                    "it names image %s, which is not in the trace".formatted(known.getImage())));
  }

  private ClockUnit unit(PyramidCore known) throws WrongPyramidException {
    for (ClockUnit unit : ClockUnit.values()) {
      if (unit.name().equals(known.getUnit())) {
        return unit;
      }
    }
    throw pyramid.wrong("it has a clock that counts %s".formatted(known.getUnit()));
  }

  private Optional<ImageInfo> image(String id) throws IOException {
    return Optional.ofNullable(trace.image(id)).map(ChunkApplier::info);
  }

  /**
   * Chunks that were read.
   *
   * @param images that they name beside the one that the core runs
   */
  public record Read(List<TraceIndex.Range> chunks, Set<String> images) {}

  /** Rebuilds the calls of a window, whole ones as far as its chunks show them. */
  private Answer replay(
      TraceIndex.Core core, Timeline.Question question, TraceReplay.Progress progress)
      throws IOException {
    CoreKey key = new CoreKey(core.session(), core.core());
    TileReplay tiles = new TileReplay(key, lastTime(core), symbols, question.shift());
    read(core, question.begin(), question.end(), tiles.state(), progress);
    return tiles.answer(question);
  }

  /**
   * Takes the chunks of a time of a core into a state that begins anywhere, and the chunk behind
   * it, which shows what was lost at its end and which calls continue. A time before all of them
   * gives the first.
   *
   * @return what was read
   * @throws InvalidTraceException when entries do not fit together
   */
  public Read read(
      TraceIndex.Core core, long from, long to, GraphState state, TraceReplay.Progress progress)
      throws IOException {
    long begun = Math.max(from, rangesOf(core).getFirst().firstTime());
    Read read =
        new Read(
            trace.chunksAround(core.session(), core.core(), begun, Math.max(begun, to)),
            new LinkedHashSet<>());
    ChunkApplier applier = new ChunkApplier(state);
    long chunks = 0;
    long records = 0;
    try {
      for (TraceIndex.Range at : read.chunks()) {
        Chunk chunk = trace.chunk(at);
        read.images().addAll(chunk.getImages());
        TraceReplay.takeImage(trace, state, chunk, file);
        TraceReplay.apply(applier, chunk, file);
        records += chunk.getRecordCount();
        progress.advanced(++chunks, records);
      }
      return read;
    } catch (BrokenCoreException e) {
      throw new InvalidTraceException(
          "%s: %s; give a window without it".formatted(file, e.getMessage()), e);
    }
  }

  @Override
  public void close() throws IOException {
    trace.close();
  }
}
