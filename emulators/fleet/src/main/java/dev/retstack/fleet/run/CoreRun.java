package dev.retstack.fleet.run;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.FleetControl;
import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.publish.ChunkPublisher;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.CoreOutput;
import dev.retstack.fleet.publish.SentImages;
import dev.retstack.fleet.settings.Order;
import dev.retstack.machine.linux.LinuxProcess;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * One core of a fleet from its opening to its last chunk, a slice at a time. Whatever goes wrong
 * ends this core and no other.
 *
 * <p>All records that are not sent are in one batch, that of the core's probe. It belongs to the
 * core: for good, or, where cores share the buffer of their thread, for a slice; then the core
 * moves them to a small one. The output borrows the batch for a call and keeps nothing of it.
 *
 * <p>Commands are followed between two slices, by the thread that comes first: the one that runs
 * the core, or, while the core waits for its turn, the one that brings the command.
 */
public final class CoreRun {
  /**
   * Most records that a core keeps between two slices, if it shares the buffer of its thread; with
   * more it sends a chunk that is not full.
   */
  private static final int KEPT_MOST = 2048;

  /** Room for notes of commands that such a core follows between two slices. */
  private static final int NOTES = 16;

  /** A keyframe with so few records goes with each chunk, however small that is. */
  private static final int KEYFRAME_SMALL = 32;

  /** A keyframe goes with a chunk that is not even twice as long only so often, in nanoseconds. */
  private static final long KEYFRAME_NANOS = 1_000_000_000;

  /** A command on its way to the core, and who hears what became of it. */
  private record Pending(Command command, Consumer<ControlResult.Builder> answer) {}

  /** What a core has done. */
  public record Progress(
      long instructions, long records, long chunks, long overruns, long unhijackable) {
    public static final Progress NOTHING = new Progress(0, 0, 0, 0, 0);

    public Progress plus(Progress other) {
      return new Progress(
          instructions + other.instructions,
          records + other.records,
          chunks + other.chunks,
          overruns + other.overruns,
          unhijackable + other.unhijackable);
    }
  }

  private final CoreSpec spec;
  private final FleetOptions options;
  private final long sliceInstructions;
  private final CoreSettings settings;
  private final CoreOutput output;
  private final SentImages images;
  private final ReentrantLock stopped = new ReentrantLock();
  private final Queue<Pending> commands = new ConcurrentLinkedQueue<>();
  private final ReentrantLock life = new ReentrantLock();
  private Core core;

  /** True where the core shall give way as soon as it can; under {@link #life}. */
  private volatile boolean hurried;

  /** What was open where the next chunk begins; null where that is not known. */
  private Keyframe begin;

  private long keyframeAt = System.nanoTime() - KEYFRAME_NANOS;
  private boolean changed = true;

  private boolean flushSoon;
  private boolean snapshotSoon;
  private long openingNanos;
  private volatile CoreResult result;
  private long overruns;
  private long unhijackable;
  private final SortedSet<String> leftAlone = new TreeSet<>();
  private long abandoned;
  private long flushedAt = System.nanoTime();
  private volatile Progress progress = Progress.NOTHING;

  /**
   * @param sliceInstructions instructions of a slice
   */
  public CoreRun(
      CoreSpec spec,
      FleetOptions options,
      long sliceInstructions,
      ChunkSink sink,
      SentImages images,
      CoreSettings settings) {
    this.spec = spec;
    this.options = options;
    this.sliceInstructions = sliceInstructions;
    this.settings = settings;
    this.images = images;
    this.output =
        new CoreOutput(
            new ChunkPublisher(
                sink,
                new ChunkPublisher.Stream(
                    options.session(),
                    spec.name(),
                    spec.image().isa().name(),
                    spec.image().elf().buildId(),
                    unit(spec)),
                options.codec(),
                options.payloadBytesMax()),
            spec.options().recordsPerChunk());
  }

  private static ClockUnit unit(CoreSpec spec) {
    return switch (spec.options().clock()) {
      case VIRTUAL -> ClockUnit.INSTRUCTIONS;
      case HOST -> ClockUnit.NANOSECONDS;
    };
  }

  /** What the core is, for who selects cores. */
  public CoreIdentity identity() {
    return settings.identity();
  }

  /** Before the first slice: traces what was commanded so far. */
  public void join(FleetControl control) {
    settings.join(control);
  }

  /**
   * Brings a command. The answer comes at once where the core waits for its turn, else at the end
   * of its slice. From any thread.
   */
  public void command(Command command, Consumer<ControlResult.Builder> answer) {
    commands.add(new Pending(command, answer));
    followWaiting();
  }

  /** No command stays behind: who adds one after this looked finds the lock free. */
  private void followWaiting() {
    while (!commands.isEmpty() && stopped.tryLock()) {
      try {
        if (core == null && result == null) {
          return; // its first slice follows them
        }
        follow();
      } finally {
        stopped.unlock();
      }
    }
  }

  private void follow() {
    for (Pending next = commands.poll(); next != null; next = commands.poll()) {
      next.answer().accept(answer(next.command()));
    }
  }

  private ControlResult.Builder answer(Command command) {
    ControlResult.Builder answer;
    if (result != null) {
      answer = CoreSettings.refused("the core has ended: " + result.ending().detail());
    } else {
      try {
        answer = settings.follow(command, core);
        followed(command, answer);
      } catch (RuntimeException e) {
        answer = CoreSettings.refused("the core cannot be changed: " + e.getMessage());
      }
    }
    return answer
        .setSession(options.session())
        .setCore(spec.name())
        .setIsa(spec.image().isa().name())
        .setImage(spec.image().elf().buildId())
        .setImageName(spec.image().elf().name())
        .setClockUnit(unit(spec));
  }

  private void followed(Command command, ControlResult.Builder answer) {
    if (answer.getStatus() != ControlStatus.APPLIED) {
      return;
    }
    if (command.order().lasts()) {
      core.noteCommand(command.number());
      changed = true;
    }
    if (command.order().equals(Order.SNAPSHOT)) {
      snapshotSoon = true;
      changed = true;
    }
  }

  /**
   * Runs a slice; true while the core has not ended.
   *
   * @param buffers of this thread, for all cores that take turns on it; empty: each has its own
   */
  public boolean slice(Optional<RecordBuffers> buffers) throws InterruptedException {
    stopped.lockInterruptibly();
    try {
      advance(buffers);
    } finally {
      stopped.unlock();
    }
    followWaiting();
    return result == null;
  }

  private void advance(Optional<RecordBuffers> buffers) throws InterruptedException {
    try {
      if (core == null) {
        open();
        buffers.ifPresent(_ -> rest());
      }
      follow();
      settle();
      buffers.ifPresent(shared -> moveTo(shared.empty(spec.options().recordsPerChunk())));
      runSlice();
      if (result == null && buffers.isPresent()) {
        if (core.probe().batch().size() > KEPT_MOST) {
          flush();
        }
        rest();
      }
    } catch (IOException e) {
      undelivered(e.getMessage());
    } catch (RuntimeException e) {
      finish(new CoreEnding(CoreEnd.FAULTED, 0, "emulator failed: " + e.getMessage()));
    } catch (InterruptedException e) {
      undelivered("interrupted while the sink waited");
      throw e;
    }
    updateProgress();
  }

  private void open() {
    long start = System.nanoTime();
    Core opened = Core.open(spec.image(), spec.options().withTrace(settings.now()));
    locked(
        () -> {
          core = opened;
          if (hurried) {
            core.hurry();
          }
        });
    begin = core.keyframe();
    openingNanos = System.nanoTime() - start;
  }

  /** Before the core continues after a command: nothing from before it is held back. */
  private void settle() throws IOException, InterruptedException {
    if (!changed) {
      return;
    }
    changed = false;
    flush();
    output.keep(settings.now().flightRecorder());
    if (snapshotSoon) {
      snapshotSoon = false;
      output.snapshot();
    }
    flushSoon = true;
  }

  /** Moves unsent records from the thread's buffer to one that is at most as large. */
  private void rest() {
    int wanted = core.probe().batch().size() + NOTES;
    moveTo(RecordBuffer.resting(Math.min(wanted, spec.options().recordsPerChunk())));
  }

  /** Has the core record there, behind what it has recorded and not sent. */
  private void moveTo(RecordBuffer empty) {
    RecordBatch unsent = core.probe().batch();
    empty.batch().addAll(unsent, 0, unsent.size());
    core.recordInto(empty);
  }

  /** A full batch does not end the slice, or cores that call often would get a smaller share. */
  private void runSlice() throws IOException, InterruptedException {
    long end = core.instructions() + sliceInstructions;
    do {
      switch (core.run(end - core.instructions())) {
        case DEADLINE -> flushIfDue();
        case BATCH_FULL -> flush();
        case ENDED -> finish(core.ending().orElseThrow());
      }
    } while (result == null && core.instructions() < end && !hurried);
  }

  /** Has the slice that runs end at the next block, since the core is to be stopped. */
  public void hurry() {
    locked(
        () -> {
          hurried = true;
          if (core != null && result == null) {
            core.hurry();
          }
        });
  }

  /** While the core is neither being opened nor closed. */
  private void locked(Runnable what) {
    life.lock();
    try {
      what.run();
    } finally {
      life.unlock();
    }
  }

  /** Ends the core from outside, between two slices, with its last chunk. */
  public void stop(String why) throws InterruptedException {
    stopped.lockInterruptibly();
    try {
      if (core != null) {
        core.stop(why);
      }
      finish(new CoreEnding(CoreEnd.STOPPED, 0, why));
    } finally {
      stopped.unlock();
    }
    followWaiting();
  }

  private void flushIfDue() throws IOException, InterruptedException {
    long interval = options.flushInterval().toNanos();
    if (flushSoon
        || settings.maySnapshot() // what was asked for is sent now
        || (interval > 0 && System.nanoTime() - flushedAt >= interval)) {
      flush();
    }
  }

  private void flush() throws IOException, InterruptedException {
    count();
    sendImages();
    output.add(withKeyframe(core.probe().batch()));
    core.probe().clear();
    begin = core.keyframe();
    flushedAt = System.nanoTime();
    flushSoon = false;
  }

  /** Images that were mapped come before the records that name them. */
  private void sendImages() throws IOException, InterruptedException {
    for (Image image : core.mapped().takeFresh()) {
      images.send(image.getBuildId(), () -> image);
    }
    output.images(core.mapped().ids());
  }

  /** The batch that begins where the last one ended. */
  private RecordBatch withKeyframe(RecordBatch batch) {
    long now = System.nanoTime();
    int records = begin == null ? 0 : begin.records().size();
    boolean isDue =
        records <= Math.max(KEYFRAME_SMALL, batch.size() / 2) || now - keyframeAt >= KEYFRAME_NANOS;
    batch.setKeyframe(isDue ? begin : null);
    keyframeAt = isDue && begin != null ? now : keyframeAt;
    begin = null;
    return batch;
  }

  private void count() {
    Probe probe = core.probe();
    overruns += probe.overruns();
    unhijackable += probe.unhijackable();
    for (long site : probe.leftAlone()) {
      leftAlone.add(name(site));
    }
    abandoned += probe.abandoned();
    output.refused(
        new ChunkPublisher.Refused(probe.overruns(), probe.unhijackable(), probe.abandoned()));
  }

  private String name(long site) {
    return spec.image()
        .elf()
        .functionAt(site)
        .map(Symbol::name)
        .orElseGet(() -> "0x" + Long.toHexString(site));
  }

  private void finish(CoreEnding ending) throws InterruptedException {
    String lost = "";
    try {
      if (core != null) {
        while (core.probe().isWaiting()) {
          flush(); // so that there is room for what waits
        }
        count();
        sendImages();
      }
      RecordBatch rest = core == null ? new RecordBatch(0) : core.probe().batch();
      long time = core == null ? 0 : core.clock().now();
      output.end(
          withKeyframe(rest), new ChunkPublisher.Ending(ending.end(), ending.detail(), time));
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
    updateProgress();
    Optional<LinuxProcess> process = Optional.ofNullable(core).map(Core::process);
    CoreResult end =
        new CoreResult(
            spec.name(),
            ending,
            progress.instructions(),
            output.records(),
            overruns,
            unhijackable,
            List.copyOf(leftAlone),
            abandoned,
            process.map(LinuxProcess::unsupported).orElseGet(TreeMap::new),
            core == null ? List.of() : core.lacks(ending.failed()),
            undelivered);
    locked(
        () -> {
          result = end;
          if (core != null) {
            core.close();
          }
        });
  }

  /** How long it took to open it, in nanoseconds; 0 before. */
  public long openingNanos() {
    return openingNanos;
  }

  /** What became of it; null while it runs. */
  public CoreResult result() {
    return result;
  }

  /** How far it is; safe to read from any thread. */
  public Progress progress() {
    return progress;
  }

  private void updateProgress() {
    progress =
        new Progress(
            core == null ? 0 : core.instructions(),
            output.records(),
            output.chunks(),
            overruns,
            unhijackable);
  }
}
