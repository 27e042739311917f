package dev.retstack.fleet;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.publish.ChunkPublisher;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.codec.RecordBatch;
import java.io.IOException;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One core of a fleet from its opening to its last chunk, a slice at a time. Whatever goes wrong
 * ends this core and no other.
 */
final class CoreTask {
  /**
   * Most records that a core without a buffer of its own keeps between two slices; with more it
   * sends a chunk that is not full.
   */
  private static final int KEPT_MOST = 2048;

  private static final RecordBatch NOTHING = new RecordBatch(0);
  private final CoreSpec spec;
  private final FleetOptions options;
  private final ChunkPublisher publisher;
  private Core core;
  private RecordBatch kept = NOTHING;
  private long openingNanos;
  private CoreResult result;
  private long overruns;
  private long unhijackable;
  private long flushedAt = System.nanoTime();
  private volatile Progress progress = Progress.NOTHING;

  CoreTask(CoreSpec spec, FleetOptions options, ChunkSink sink) {
    this.spec = spec;
    this.options = options;
    this.publisher =
        new ChunkPublisher(
            sink,
            new ChunkPublisher.Stream(
                options.session(),
                spec.name(),
                spec.image().isa().name(),
                spec.image().elf().buildId(),
                unit(spec)),
            options.codec(),
            options.payloadBytesMax());
  }

  private static ClockUnit unit(CoreSpec spec) {
    return switch (spec.options().clock()) {
      case VIRTUAL -> ClockUnit.INSTRUCTIONS;
      case HOST -> ClockUnit.NANOSECONDS;
    };
  }

  /**
   * Runs a slice; true while the core has not ended.
   *
   * @param buffers of this thread, for all cores that take turns on it; empty: each has its own
   */
  boolean slice(Optional<RecordBuffers> buffers) throws InterruptedException {
    try {
      if (core == null) {
        open();
      }
      buffers.ifPresent(this::borrow);
      runSlice();
      if (result == null && buffers.isPresent()) {
        giveBack();
      }
    } catch (IOException e) {
      undelivered(e.getMessage());
    } catch (RuntimeException e) {
      finish(new CoreEnding(CoreEnd.FAULTED, 0, "emulator failed: " + e.getMessage()));
    } catch (InterruptedException e) {
      undelivered("interrupted while the sink waited");
      throw e;
    }
    tell();
    return result == null;
  }

  private void open() {
    long start = System.nanoTime();
    core = Core.open(spec.image(), spec.options());
    openingNanos = System.nanoTime() - start;
  }

  private void borrow(RecordBuffers buffers) {
    RecordBuffer buffer = buffers.of(spec.options().recordsPerChunk());
    buffer.batch().clear();
    buffer.batch().addAll(kept, 0, kept.size());
    kept = NOTHING;
    core.recordInto(buffer);
  }

  private void giveBack() throws IOException, InterruptedException {
    if (core.probe().batch().size() > KEPT_MOST) {
      flush();
    }
    RecordBatch rest = core.probe().batch();
    if (rest.size() > 0) {
      kept = new RecordBatch(rest.size());
      kept.addAll(rest, 0, rest.size());
    }
    core.recordInto(new RecordBuffer(0));
  }

  /** A full batch does not end the slice, or cores that call often would get a smaller share. */
  private void runSlice() throws IOException, InterruptedException {
    long end = core.instructions() + options.sliceInstructions();
    do {
      switch (core.run(end - core.instructions())) {
        case DEADLINE -> flushIfDue();
        case BATCH_FULL -> flush();
        case ENDED -> finish(core.ending().orElseThrow());
      }
    } while (result == null && core.instructions() < end);
  }

  /** Ends the core from outside, between two slices, with its last chunk. */
  void stop(String why) throws InterruptedException {
    if (core != null) {
      core.stop(why);
    }
    finish(new CoreEnding(CoreEnd.STOPPED, 0, why));
  }

  private void flushIfDue() throws IOException, InterruptedException {
    long interval = options.flushInterval().toNanos();
    if (interval > 0 && System.nanoTime() - flushedAt >= interval) {
      flush();
    }
  }

  private void flush() throws IOException, InterruptedException {
    publisher.publish(core.probe().batch(), count());
    core.probe().clear();
    flushedAt = System.nanoTime();
  }

  private ChunkPublisher.Refused count() {
    Probe probe = core.probe();
    overruns += probe.overruns();
    unhijackable += probe.unhijackable();
    return new ChunkPublisher.Refused(probe.overruns(), probe.unhijackable());
  }

  private void finish(CoreEnding ending) throws InterruptedException {
    String lost = "";
    try {
      RecordBatch rest = core == null || kept.size() > 0 ? kept : core.probe().batch();
      ChunkPublisher.Refused refused = core == null ? new ChunkPublisher.Refused(0, 0) : count();
      long time = core == null ? 0 : core.clock().now();
      publisher.end(rest, refused, new ChunkPublisher.Ending(ending.end(), ending.detail(), time));
    } catch (IOException e) {
      lost = e.getMessage();
    } catch (InterruptedException e) {
      close(ending, "interrupted while the sink waited");
      throw e;
    }
    close(ending, lost);
  }

  private void undelivered(String why) {
    CoreEnding ending = new CoreEnding(CoreEnd.STOPPED, 0, "its chunks cannot be sent");
    close(core.ending().orElse(ending), why);
  }

  private void close(CoreEnding ending, String undelivered) {
    tell();
    SortedMap<String, Long> unsupported =
        core == null ? Collections.emptySortedMap() : core.process().unsupported();
    result =
        new CoreResult(
            spec.name(),
            ending,
            progress.instructions(),
            publisher.records(),
            overruns,
            unhijackable,
            new TreeMap<>(unsupported),
            undelivered);
    if (core != null) {
      core.close();
    }
  }

  /** How long it took to open it, in nanoseconds; 0 before. */
  long openingNanos() {
    return openingNanos;
  }

  /** What became of it; null while it runs. */
  CoreResult result() {
    return result;
  }

  /** How far it is; safe to read from any thread. */
  Progress progress() {
    return progress;
  }

  private void tell() {
    progress =
        new Progress(
            core == null ? 0 : core.instructions(),
            publisher.records(),
            publisher.chunks(),
            overruns,
            unhijackable);
  }

  /** What a core has done. */
  record Progress(long instructions, long records, long chunks, long overruns, long unhijackable) {
    static final Progress NOTHING = new Progress(0, 0, 0, 0, 0);

    Progress plus(Progress other) {
      return new Progress(
          instructions + other.instructions,
          records + other.records,
          chunks + other.chunks,
          overruns + other.overruns,
          unhijackable + other.unhijackable);
    }
  }
}
