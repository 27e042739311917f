package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.calls.CoreSegment;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * A whole trace in several threads. Each thread takes the work that is next, from the end of the
 * path: apply chunks of a lane, else unpack a chunk, else read one. Cores are divided among lanes,
 * each with a separate state; a lane is applied by one thread at a time, in order. So cores advance
 * side by side, and the chunks of one core are unpacked while others of it are applied.
 *
 * <pre>
 * file ─(one thread)─► chunks ─(any)─► unpacked ─(one per lane)─► state of the lane ─► joined
 *                      some of a core ─(any)─► rebuilt ─(one per lane)─┘
 * </pre>
 *
 * <p>Where there are no more cores than threads, several chunks of a core are rebuilt at once, from
 * the keyframe of the first one on, and joined to the core when it is there ({@link CoreSegment}).
 * A core that refused that twice is not guessed at any more.
 *
 * <p>The chunks on the way are bounded. What gives another result in one state than in several is
 * left to the caller: a core that breaks, limits that are reached.
 */
final class ParallelReplay {
  /** Chunks on the way for each thread: one in its hands, one ready, and one to be unpacked. */
  private static final int DEPTH = 3;

  /** Of the memory they take no more than this part. */
  private static final int MEMORY_PART = 4;

  /** Bytes of a record in columns, links included. */
  private static final int RECORD_BYTES = 57;

  /** Records of a segment, about: a hundredth of a second's work. */
  private static final int SEGMENT_RECORDS = 1 << 19;

  /** Segments of a core that may turn out not to continue it. */
  private static final int REFUSED_MOST = 2;

  private final Path file;
  private final GraphState state;
  private final TraceFileReader reader;
  private final TraceReplay.Progress progress;
  private final List<Lane> lanes = new ArrayList<>();
  private final int most;
  private final int segmentRecords;

  // all below is guarded by this object; what the reader alone uses, by its turn
  private final Deque<Job> packed = new ArrayDeque<>();
  private final Deque<RecordBatch> spare = new ArrayDeque<>();
  private final Map<CoreKey, Core> cores = new HashMap<>();
  private int under;
  private boolean reading;
  private boolean ended;
  private long chunks;
  private long records;
  private boolean failed;
  private long joined;

  private ParallelReplay(
      Path file,
      GraphState state,
      TraceFileReader reader,
      int threads,
      int segmentRecords,
      TraceReplay.Progress to) {
    this.file = file;
    this.segmentRecords = segmentRecords;
    this.state = state;
    this.reader = reader;
    this.progress = to;
    long fit = Runtime.getRuntime().maxMemory() / MEMORY_PART / RECORD_BYTES / Chunks.RECORDS_MAX;
    this.most = Math.clamp(fit, 2, DEPTH * threads);
    for (int i = 0; i < threads; i++) {
      lanes.add(new Lane(new ChunkApplier(state.blank().named(LateSymbols.NONE))));
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  /** Cores that are applied one after the other. */
  private static final class Lane {
    final ChunkApplier applier;
    final Deque<Job> queue = new ArrayDeque<>();
    boolean busy;

    /** Records that its cores have, to share them out. */
    long records;

    Lane(ChunkApplier applier) {
      this.applier = applier;
    }
  }

  private static final class Core {
    final Lane lane;
    long sequence = -1;
    long records;

    /** The segment that chunks are added to; of the reader alone. */
    Job open;

    /** Segments that did not continue it. */
    int refused;

    Core(Lane lane) {
      this.lane = lane;
    }
  }

  /** Chunks on their way: one, or a segment of a core. */
  private static final class Job {
    final List<Chunk> chunks = new ArrayList<>(1);
    final List<ImageInfo> images;
    final Core core;
    final boolean isSegment;
    int records;

    /** The records of a single chunk, once it is unpacked. */
    RecordBatch batch;

    /** A segment, once it is rebuilt; null where it cannot be. */
    CoreSegment segment;

    boolean isReady;

    Job(Chunk chunk, List<ImageInfo> images, Core core, boolean isSegment) {
      this.images = images;
      this.core = core;
      this.isSegment = isSegment;
      add(chunk);
    }

    void add(Chunk chunk) {
      chunks.add(chunk);
      records += chunk.getRecordCount();
    }
  }

  /**
   * Reads a whole trace into a new state.
   *
   * @return empty where it has to be read in one thread: then the state knows images alone
   */
  static Optional<TraceReplay.Replayed> read(
      Path file, GraphState state, int threads, TraceReplay.Progress progress) throws IOException {
    return read(file, state, threads, SEGMENT_RECORDS, _ -> {}, progress);
  }

  /** Reads with segments of this number of records; reports how many were joined. */
  static Optional<TraceReplay.Replayed> read(
      Path file,
      GraphState state,
      int threads,
      int segmentRecords,
      LongConsumer joined,
      TraceReplay.Progress progress)
      throws IOException {
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      ParallelReplay replay =
          new ParallelReplay(file, state, reader, threads, segmentRecords, progress);
      Optional<TraceReplay.Replayed> replayed = replay.run(threads);
      joined.accept(replay.joined);
      return replayed;
    }
  }

  private Optional<TraceReplay.Replayed> run(int threads) throws IOException {
    try {
      Crew.run(threads, file, this::work);
    } catch (BrokenCoreException e) {
      return Optional.empty();
    }
    List<GraphState> parts = lanes.stream().map(lane -> lane.applier.state()).toList();
    if (!joined(state, parts)) {
      return Optional.empty();
    }
    return Optional.of(TraceReplay.Replayed.of(state, reader.isCut(), reader.notice()));
  }

  /** Whether what lanes hold is in a state now, as if it had taken all of it itself. */
  static boolean joined(GraphState state, List<GraphState> lanes) {
    return state.join(lanes);
  }

  private void work() throws IOException, InterruptedException {
    try {
      for (Work next = next(); next != null; next = next()) {
        next.run();
      }
    } catch (Throwable e) {
      stop();
      throw e;
    }
  }

  private synchronized void stop() {
    failed = true;
    notifyAll();
  }

  /** Waits for work; null where there is none any more. */
  private synchronized Work next() throws InterruptedException {
    while (true) {
      if (failed || (ended && under == 0)) {
        return null;
      }
      for (Lane lane : lanes) {
        if (!lane.busy && !lane.queue.isEmpty() && lane.queue.element().isReady) {
          lane.busy = true;
          return () -> apply(lane);
        }
      }
      if (!packed.isEmpty()) {
        Job job = packed.remove();
        RecordBatch reuse = spare.isEmpty() ? new RecordBatch(0) : spare.pop();
        return () -> prepare(job, reuse);
      }
      if (!reading && !ended && under < most) {
        reading = true;
        return this::read;
      }
      wait();
    }
  }

  /** Reads up to the next chunk. */
  private void read() throws IOException {
    TraceEntry entry = reader.next();
    while (entry != null && entry.getChunk() == null) {
      if (entry.getImage() != null) {
        state.image(ChunkApplier.info(entry.getImage()));
      }
      entry = reader.next();
    }
    List<Job> jobs = entry == null ? open() : jobs(entry.getChunk());
    if (entry != null) {
      progress.advanced(chunks, records);
    }
    synchronized (this) {
      reading = false;
      ended |= entry == null;
      under += jobs.size();
      packed.addAll(jobs);
      jobs.forEach(job -> job.core.lane.queue.add(job));
      notifyAll();
    }
  }

  /** The segments that are not full at the end. */
  private List<Job> open() {
    return cores.values().stream().map(core -> core.open).filter(Objects::nonNull).toList();
  }

  /** What is to be done now that this chunk came, in this order. */
  private List<Job> jobs(Chunk chunk) throws IOException {
    List<ImageInfo> images = new ArrayList<>();
    images.add(
        state
            .findImage(chunk.getImage())
            .orElseThrow(() -> InvalidTraceException.withoutImage(file, chunk)));
    chunk.getImages().forEach(other -> state.findImage(other).ifPresent(images::add));
    Core core = cores.computeIfAbsent(ChunkApplier.key(chunk), _ -> new Core(emptiest()));
    boolean isOfSegment = isOfSegment(core, chunk);
    core.sequence = Math.max(core.sequence, chunk.getSequence());
    core.records += chunk.getRecordCount();
    core.lane.records += chunk.getRecordCount();
    records += chunk.getRecordCount();
    chunks++;
    List<Job> jobs = new ArrayList<>(2);
    if (core.open != null && !isOfSegment) {
      jobs.add(core.open);
      core.open = null;
    }
    if (!isOfSegment) {
      jobs.add(new Job(chunk, images, core, false));
    } else if (core.open == null) {
      core.open = new Job(chunk, images, core, true);
    } else {
      core.open.add(chunk);
    }
    if (core.open != null && core.open.records >= segmentRecords) {
      jobs.add(core.open);
      core.open = null;
    }
    return jobs;
  }

  /** Whether a chunk goes into the segment that is open of its core, or begins one. */
  private synchronized boolean isOfSegment(Core core, Chunk chunk) {
    return !state.isByTask()
        && cores.size() <= lanes.size()
        && core.refused < REFUSED_MOST
        && core.sequence >= 0
        && core.records >= Math.max(state.segmentsFrom(), segmentRecords)
        && chunk.getSequence() == core.sequence + 1
        && chunk.getImages().isEmpty()
        && chunk.getEnd() == CoreEnd.RUNNING
        && chunk.getLostBefore() == 0
        && (core.open != null || chunk.getKeyframeRecords() != Chunks.NO_KEYFRAME);
  }

  private Lane emptiest() {
    Lane found = lanes.getFirst();
    for (Lane lane : lanes) {
      found = lane.records < found.records ? lane : found;
    }
    return found;
  }

  private void prepare(Job job, RecordBatch reuse) throws IOException {
    RecordBatch batch = job.isSegment ? rebuild(job, reuse) : unpack(job.chunks.getFirst(), reuse);
    synchronized (this) {
      if (job.isSegment) {
        spare.push(batch);
      } else {
        job.batch = batch;
      }
      job.isReady = true;
      notifyAll();
    }
  }

  private RecordBatch unpack(Chunk chunk, RecordBatch reuse) throws IOException {
    try {
      return Chunks.decode(chunk, reuse);
    } catch (CorruptChunkException e) {
      throw new InvalidTraceException(file + ": " + e.getMessage(), e);
    }
  }

  /** Rebuilds a segment as far as it goes; returns the batch to be used again. */
  private RecordBatch rebuild(Job job, RecordBatch reuse) throws IOException {
    RecordBatch batch = unpack(job.chunks.getFirst(), reuse);
    try {
      CoreKey key = ChunkApplier.key(job.chunks.getFirst());
      ChunkMeta first = ChunkApplier.meta(job.chunks.getFirst());
      CoreSegment segment = state.segment(key, job.images.getFirst(), first, batch).orElse(null);
      for (int i = 0; segment != null && i < job.chunks.size(); i++) {
        batch = i == 0 ? batch : unpack(job.chunks.get(i), batch);
        segment.apply(ChunkApplier.meta(job.chunks.get(i)), batch);
      }
      job.segment = segment;
    } catch (BrokenCoreException e) {
      job.segment = null; // its core breaks by the same chunk, or this was a wrong guess
    }
    return batch;
  }

  /** Applies what is ready of a lane. */
  private void apply(Lane lane) throws IOException {
    Job job = head(lane, null);
    while (job != null) {
      GraphState own = lane.applier.state();
      job.images.forEach(own::image);
      if (!job.isSegment) {
        var _ = lane.applier.apply(job.chunks.getFirst(), job.batch);
      } else if (job.segment == null || !own.join(job.segment)) {
        refused(job.core);
        for (Chunk chunk : job.chunks) {
          job.batch = unpack(chunk, job.batch == null ? new RecordBatch(0) : job.batch);
          var _ = lane.applier.apply(chunk, job.batch);
        }
      } else {
        joined();
      }
      job = head(lane, job);
    }
  }

  private synchronized void refused(Core core) {
    core.refused++;
  }

  private synchronized void joined() {
    joined++;
  }

  /** The next job of a lane that is ready; where there is none, the lane is free. */
  private synchronized Job head(Lane lane, Job done) {
    if (done != null) {
      lane.queue.remove();
      if (done.batch != null) {
        spare.push(done.batch);
      }
      under--;
      notifyAll();
    }
    Job next = lane.queue.peek();
    boolean goesOn = next != null && next.isReady && !failed;
    lane.busy = goesOn;
    return goesOn ? next : null;
  }
}
