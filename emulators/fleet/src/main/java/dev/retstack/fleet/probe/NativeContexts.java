package dev.retstack.fleet.probe;

import dev.retstack.schema.codec.RecordBatch;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;

/** The contexts of a core whose probe is in C, which works on the current one. */
final class NativeContexts implements Contexts.Listener<NativeFrames>, Unwinding.Stacks {
  private final NativeLibrary layout;
  private final NativeCore core;
  private final EventRecords events;
  private final Supplier<RecordBatch> batch;
  private final Contexts<NativeFrames> contexts;

  /** Frames of contexts that are over. */
  private final Deque<NativeFrames> idle = new ArrayDeque<>();

  private TaskFilter tasks = TaskFilter.NONE;

  /** The time of what is going on. */
  private long time;

  /**
   * One task.
   *
   * @param batch where records go now
   * @param limit most frames of a context
   */
  NativeContexts(
      NativeLibrary layout,
      NativeCore core,
      Arena arena,
      EventRecords events,
      Supplier<RecordBatch> batch,
      StackRegions regions,
      int limit) {
    this.layout = layout;
    this.core = core;
    this.events = events;
    this.batch = batch;
    NativeFinder finder = new NativeFinder(layout, arena);
    contexts =
        new Contexts<>(
            () -> {
              NativeFrames frames =
                  idle.isEmpty() ? new NativeFrames(layout, arena, finder, limit) : idle.pop();
              frames.clear(core.get("min_duration"));
              return frames;
            },
            regions,
            this);
    load();
  }

  /** The frames that the probe in C works on, as they are now. */
  NativeFrames frames() {
    NativeFrames frames = contexts.current().frames;
    frames.save(core);
    return frames;
  }

  /** All there are, those of the current context as they are now. */
  Iterable<NativeFrames> all() {
    frames();
    return contexts.all();
  }

  /** The same, those of the current context as they were at the last {@link #frames}. */
  @Override
  public Iterable<NativeFrames> stacks() {
    return contexts.all();
  }

  @Override
  public boolean mayShareStack(long one, long other) {
    return contexts.mayShareStack(one, other);
  }

  /** The probe in C works on the current context, as it is now. */
  void load() {
    Context<NativeFrames> current = contexts.current();
    current.frames.load(core);
    core.set("muted", tasks.mutes(current.task.id) ? 1 : 0);
    core.set("stack_low", current.low);
    core.set("stack_size", contexts.holds(current.low) ? current.high - current.low : 0);
  }

  /** Another context may be current now, or frames of the current one are gone. */
  void goOn() {
    load();
    core.set("watched", contexts.current().frames.watched());
  }

  /** {@link NativeFrames#forgetSlots}, in all of them. */
  void forgetSlots() {
    all().forEach(NativeFrames::forgetSlots);
    core.set("watched", SmashedReturns.UNWATCHED);
  }

  /** Which tasks leave no records from here on. */
  void follow(TaskFilter filter) {
    tasks = filter;
    load();
  }

  /** {@link Contexts#enter}, where the probe in C asked. */
  void enter() {
    frames();
    time = core.get("stop_time");
    boolean entered = contexts.enter(core.get("stop_value"), core.get("stop_fp"));
    core.set("answered", entered ? 0 : layout.at("ANSWER_REFUSED"));
    goOn();
  }

  /** {@link Contexts#exit}, where the probe in C asked. */
  void exit(long stackPointer, long slotReach) {
    frames();
    time = core.get("stop_time");
    int place = (int) core.get("stop_value");
    contexts.exit(place, stackPointer, stackPointer + slotReach);
    boolean fits = contexts.current().fits(place, stackPointer + slotReach);
    core.set("answered", fits ? 0 : layout.at("ANSWER_CURRENT"));
    goOn();
  }

  /** {@link Probe#interruptEnter}. */
  void interruptEnter(long number, long pc, long now, long stackPointer, boolean tell) {
    frames();
    time = now;
    contexts.interruptEnter(number, pc, stackPointer, false, tell);
    core.set("answered", 0);
    goOn();
  }

  /** {@link Probe#interruptExit}. */
  void interruptExit(long pc, long now, long stackPointer) {
    frames();
    time = now;
    contexts.interruptExit(pc, stackPointer);
    core.set("answered", 0);
    goOn();
  }

  @Override
  public void write(NativeFrames left) {
    left.writeAll(events, batch.get(), core.get("code_mask"));
  }

  @Override
  public void record(byte kind, int depth, long selfPc, long fromPc, long retP) {
    events.record(batch.get(), kind, time, depth, selfPc, fromPc, retP, 0);
  }

  @Override
  public void over(NativeFrames left) {
    idle.push(left);
  }
}
