package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreReconstructor;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * What one core did in a time, as if it had begun with that time and ended with it. A separate
 * state takes what is ahead of the time; where the time begins, its open calls begin in the state
 * that counts.
 */
final class WindowReplay {
  private final String source;
  private final GraphState state;
  private final TraceReplay.Window window;
  private final GraphState ahead;
  private final CoreKey key;
  private final RecordBatch none = new RecordBatch(0);
  private RecordBatch batch = new RecordBatch(0);
  private Chunk last;
  private boolean begun;

  /** Whether a record behind the window was seen. */
  private boolean over;

  /**
   * @param source where the chunks are from, for messages
   * @param state counts what is in the window; it {@linkplain GraphState#anywhere begins anywhere}
   */
  WindowReplay(String source, GraphState state, TraceReplay.Window window, CoreKey key) {
    this.source = source;
    this.state = state;
    this.window = window;
    this.key = key;
    this.ahead = state.blankApart().anywhere();
  }

  /** Takes the next chunk of the core, whose image the state has. */
  void take(Chunk chunk) throws IOException {
    if (over) {
      return;
    }
    try {
      batch = Chunks.decode(chunk, batch);
      last = chunk;
      if (!begun && isAhead(chunk)) {
        take(ahead, ChunkApplier.meta(chunk), batch);
      } else if (begun || batch.size() == 0 || batch.time[0] >= window.from()) {
        if (!begun && ahead.core(key).isPresent()) {
          begin(!isBehindGap(chunk));
        }
        begun = true;
        count(ChunkApplier.meta(chunk), 0);
      } else {
        split(chunk);
      }
    } catch (CorruptChunkException e) {
      throw new InvalidTraceException(source + ": " + e.getMessage(), e);
    }
  }

  private boolean isAhead(Chunk chunk) {
    return batch.size() == 0
        ? chunk.getLastTime() < window.from()
        : batch.time[batch.size() - 1] < window.from();
  }

  /** Whether records are missing between the state ahead and this chunk. */
  private boolean isBehindGap(Chunk chunk) {
    CoreGraph core = core(ahead);
    ChunkMeta taken = core.progress().behind(0, core.unit());
    return chunk.getSequence() != taken.sequence() + 1
        || chunk.getRecordsBefore() != taken.recordsBefore()
        || chunk.getLostBefore() > 0;
  }

  /** The window begins in this chunk. */
  private void split(Chunk chunk) {
    begun = true;
    final int first = indexOf(window.from());
    ChunkMeta all = ChunkApplier.meta(chunk);
    RecordBatch head = part(0, first);
    head.setKeyframe(batch.keyframe());
    take(ahead, head(all), head);
    CoreReconstructor core = core(ahead).progress();
    core.open(window.from(), true, batch);
    count(core.here(all), first);
  }

  /**
   * The core continues where the state ahead left it.
   *
   * @param known whether what was open there is open where the window begins
   */
  private void begin(boolean known) {
    CoreGraph core = core(ahead);
    core.progress().open(window.from(), known, none);
    take(state, core.progress().behind(window.from(), core.unit()), none);
  }

  /** Takes the records from one on that are not behind the window. */
  private void count(ChunkMeta meta, int first) {
    int end = window.to() == Long.MAX_VALUE ? batch.size() : indexOf(window.to() + 1);
    over = end < batch.size();
    boolean cut = over || meta.lastTime() > window.to();
    RecordBatch part = first > 0 || over ? part(first, Math.max(first, end)) : batch;
    part.setKeyframe(batch.keyframe() == null ? null : clipped(batch.keyframe()));
    take(state, tail(meta, first, cut), part);
  }

  /**
   * No more chunks come: calls that are open end with the window.
   *
   * @param clock the core's last time in the trace
   */
  void end(LongSupplier clock) {
    if (last != null) {
      if (!begun) {
        begin(false); // of what comes behind the trace nothing is known
      }
      if (window.to() != Long.MAX_VALUE) {
        core(state).closeAt(Math.min(window.to(), clock.getAsLong()));
      }
    }
  }

  /** What a keyframe shows of calls that began by the end of the window, none older than it. */
  private Keyframe clipped(Keyframe keyframe) {
    RecordBatch all = keyframe.records();
    RecordBatch clipped = new RecordBatch(all.size());
    boolean interrupted = true; // whether the interrupts of the task are in the window so far
    for (int head = 0; head < all.size(); head = keyframe.end(head)) {
      boolean isTask = all.kind[head] == RecordBatch.TASK;
      interrupted = isTask || (interrupted && all.time[head] <= window.to());
      if (!interrupted) {
        continue;
      }
      int end = keyframe.end(head);
      int first = clipped.size();
      for (int i = head; i < end && all.time[i] <= window.to(); i++) {
        clipped.addAll(all, i, i + 1);
        int last = clipped.size() - 1;
        boolean hasTime = !isTask || i > head;
        clipped.time[last] = hasTime ? Math.max(all.time[i], window.from()) : 0;
      }
      int later = end - head - (clipped.size() - first);
      if (later > 0) {
        clipped.retP[first] -= later;
        clipped.depth[first] = (int) clipped.retP[first];
      }
    }
    return keyframe.withStacks(clipped);
  }

  private CoreGraph core(GraphState of) {
    return of.core(key).orElseThrow();
  }

  private void take(GraphState into, ChunkMeta meta, RecordBatch records) {
    if (into == ahead && !ahead.hasImage(last.getImage())) {
      ahead.image(state.findImage(last.getImage()).orElseThrow());
    }
    var _ = into.apply(meta, key, last.getImage(), records);
  }

  /** Index of the first record that is not before this time; times of a chunk never fall. */
  private int indexOf(long time) {
    int low = 0;
    int high = batch.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (batch.time[middle] < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private RecordBatch part(int first, int end) {
    RecordBatch part = new RecordBatch(end - first);
    part.addAll(batch, first, end);
    part.setImages(batch.images());
    return part;
  }

  /** The records ahead of the window, with what was lost before them: the core continues. */
  private ChunkMeta head(ChunkMeta meta) {
    return new ChunkMeta(
            meta.sequence(),
            meta.recordsBefore(),
            meta.lostBefore(),
            0,
            0,
            Math.min(meta.firstTime(), window.from()),
            window.from(),
            meta.unit(),
            CoreEnd.RUNNING,
            "")
        .in(meta.task(), meta.interrupts());
  }

  /**
   * The records from one on that are not behind the window. What a chunk reports without a time is
   * theirs.
   */
  private ChunkMeta tail(ChunkMeta meta, int first, boolean cut) {
    boolean split = first > 0;
    return new ChunkMeta(
        meta.sequence(),
        meta.recordsBefore() + first,
        split ? 0 : meta.lostBefore(),
        meta.overruns(),
        meta.unhijackable(),
        meta.abandoned(),
        Math.clamp(meta.firstTime(), window.from(), window.to()),
        Math.min(meta.lastTime(), window.to()),
        meta.unit(),
        cut ? CoreEnd.RUNNING : meta.end(),
        cut ? "" : meta.endDetail(),
        meta.task(),
        meta.interrupts());
  }
}
