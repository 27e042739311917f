package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.task.Contexts;
import dev.retstack.fleet.probe.task.TaskFilter;
import dev.retstack.fleet.probe.task.TaskRules;
import dev.retstack.fleet.probe.unwind.SmashedReturns;
import dev.retstack.fleet.probe.unwind.Unwinding;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/** The contexts of a core whose probe is in C, which works on the current one. */
final class NativeContexts implements Contexts.Listener<NativeFrames>, Unwinding.Stacks {
  private final NativeLibrary layout;
  private final NativeCore core;
  private final EventRecords events;
  private final Supplier<RecordBatch> batch;
  private final Contexts<NativeFrames> contexts;
  private final GivenUp givenUp;
  private final IntToLongFunction targets;
  private final Arena arena;

  /** {@code struct given_up}s: those frames, for the probe in C to look at. */
  private MemorySegment dead = MemorySegment.NULL;

  private final long givenUpBytes;
  private final long retpAt;
  private final long fromAt;
  private final long upAt;
  private final long placeAt;
  private final TaskRules declared;

  /** Frames of contexts that are over. */
  private final Deque<NativeFrames> idle = new ArrayDeque<>();

  private TaskFilter tasks = TaskFilter.NONE;

  /** The time of the present event. */
  private long time;

  /**
   * One task.
   *
   * @param batch where records go now
   * @param targets of places behind the handler slots: where a return through one leads, whatever
   *     was forgotten
   */
  NativeContexts(
      NativeLibrary layout,
      NativeCore core,
      Arena arena,
      EventRecords events,
      Supplier<RecordBatch> batch,
      ProbePlan plan,
      GivenUp givenUp,
      IntToLongFunction targets) {
    this.layout = layout;
    this.core = core;
    this.events = events;
    this.batch = batch;
    NativeFrames.Finder finder = new NativeFrames.Finder(layout, arena, plan.regions().inPieces());
    contexts =
        new Contexts<>(
            () -> {
              NativeFrames frames =
                  idle.isEmpty()
                      ? new NativeFrames(layout, core, arena, finder, plan.retStackLimit())
                      : idle.pop();
              frames.clear(core.get("min_duration"));
              return frames;
            },
            plan.regions(),
            plan.tasks(),
            this,
            givenUp);
    this.givenUp = givenUp;
    this.targets = targets;
    this.arena = arena;
    givenUpBytes = layout.at("given_up");
    retpAt = layout.at("given_up.ret_p");
    fromAt = layout.at("given_up.from_pc");
    upAt = layout.at("given_up.up");
    placeAt = layout.at("given_up.place");
    declared = plan.tasks();
    core.set("mode", core.get("mode") | (plan.regions().inPieces() ? layout.at("MODE_PIECES") : 0));
    core.set("task_bytes", declared.functions().bytes());
    core.set("task_argument", declared.functions().argument());
    load();
  }

  /** The frames that the probe in C works on, as they are now. */
  NativeFrames frames() {
    NativeFrames frames = contexts.frames();
    frames.save(core);
    long task = contexts.task();
    NativeFrames.takeFresh(layout, core, frame -> givenUp.add(frame.of(task)));
    noteGivenUp();
    return frames;
  }

  /** What was taken for dead, as far as the probe in C has reported it. */
  GivenUp givenUp() {
    return givenUp;
  }

  /**
   * The frames above the lowest {@code keep} are taken for dead; the probe in C had no room to note
   * them.
   */
  void giveUp(int keep) {
    frames();
    contexts.giveUp(keep);
    useCurrentContext();
  }

  /** Other frames may have been given up: the probe in C asks for them where it must know. */
  private void noteGivenUp() {
    if (givenUp.takeChange()) {
      core.set("given_up_stale", 1);
      core.set("any_given_up", givenUp.isEmpty() ? 0 : 1);
    }
  }

  /** The probe in C must know which frames were given up. */
  void showGivenUp() {
    frames();
    if (dead.byteSize() < givenUp.size() * givenUpBytes) {
      dead = arena.allocate(2L * givenUp.size() * givenUpBytes, Long.BYTES);
    }
    long at = 0;
    for (GivenUp.Frame frame : givenUp.all()) {
      dead.set(JAVA_LONG, at + retpAt, frame.retP());
      dead.set(JAVA_LONG, at + fromAt, frame.fromPc());
      dead.set(JAVA_LONG, at + upAt, frame.up());
      dead.set(JAVA_LONG, at + placeAt, frame.place());
      at += givenUpBytes;
    }
    core.set("given_up", dead);
    core.set("given_up_count", givenUp.size());
    core.set("given_up_stale", 0);
    core.set("unsure", 0);
  }

  /** All there are, those of the current context as they are now. */
  Iterable<NativeFrames> all() {
    frames();
    return contexts.all();
  }

  /** The contexts; the frames of the current one are as they were at the last {@link #frames}. */
  @Override
  public Contexts<NativeFrames> contexts() {
    return contexts;
  }

  @Override
  public void leaveHandlers(long stackPointer) {
    time = core.get("stop_time");
    contexts.leaveHandlers(stackPointer);
  }

  @Override
  public void giveUpBelow(long stackPointer, long address) {
    time = core.get("stop_time");
    contexts.giveUpBelow(stackPointer, address);
  }

  /** The probe in C works on the current context, as it is now. */
  void load() {
    contexts.frames().load(core);
    core.set("muted", tasks.mutes(contexts.task()) ? 1 : 0);
    long low = contexts.low();
    core.set("stack_low", low);
    boolean known = contexts.holds(low) && !contexts.isOther() && !contexts.isHandlerOver();
    core.set("stack_size", known ? contexts.high() - low : 0);
    core.set("task_value", contexts.task());
    long bits = layout.at("MODE_DECLARED") | layout.at("MODE_HANDLER");
    long mode = core.get("mode") & ~bits;
    mode |= declared.areDeclared() && contexts.outside() ? layout.at("MODE_DECLARED") : 0;
    mode |= contexts.isHandler() ? layout.at("MODE_HANDLER") : 0;
    core.set("mode", mode);
    noteGivenUp();
  }

  /** The guest's mappings have changed: the variable that names the task may lie elsewhere. */
  void mappingsChanged() {
    frames();
    core.set("task_variable", declared.host());
    load();
  }

  /** Another context may be current now, or frames of the current one are gone. */
  void useCurrentContext() {
    load();
    core.set("watched", contexts.frames().watched());
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
    long retP = core.get("stop_value");
    long fp = core.get("stop_fp");
    long site = core.get("stop_self");
    boolean entered =
        site == 0
            ? contexts.enter(retP, fp)
            : declared.enter(
                contexts, tasks, site, core.get("stop_from"), retP, fp, core.get("stop_argument"));
    useCurrentContext();
    boolean again = core.get("mode") != 0 || site != 0; // where the window need not hold the slot
    String answer = again ? "ANSWER_CURRENT" : "ANSWER_NONE";
    core.set("answered", layout.at(entered ? answer : "ANSWER_REFUSED"));
  }

  /** {@link Contexts#exit}, where the probe in C asked. */
  void exit(long stackPointer, GivenUp.Arrival arrival) {
    frames();
    long slotReach = core.get("slot_reach");
    time = core.get("stop_time");
    int place = (int) core.get("stop_value");
    GivenUp.Frame back = contexts.exit(place, stackPointer, stackPointer + slotReach, arrival);
    boolean fits = contexts.fits(place, stackPointer + slotReach);
    useCurrentContext();
    boolean holds =
        Long.compareUnsigned(stackPointer - core.get("stack_low"), core.get("stack_size")) < 0;
    boolean isPlain = fits && holds && core.get("any_given_up") == 0;
    core.set("answered", layout.at(isPlain ? "ANSWER_NONE" : "ANSWER_CURRENT"));
    boolean isForgotten =
        place >= LandingPage.SLOTS && contexts.frames().find(place, stackPointer + slotReach) < 0;
    if (back != null || isForgotten) {
      core.set("answered", layout.at("ANSWER_GIVEN_UP"));
      core.set("revived", back != null ? back.fromPc() : targets.applyAsLong(place));
      core.set("any_given_up", 1); // though it may have been the last: the answer is to be seen
    }
  }

  /** {@link Contexts#leaveEmptyHandler}, where the probe in C says that it returned. */
  void leaveHandler() {
    frames();
    time = core.get("stop_time");
    contexts.leaveEmptyHandler(core.get("stop_value"));
    useCurrentContext();
    core.set("resuming", 1); // the return has been handled: the core only continues at it
    core.set("attention", layout.at("ATTENTION_RARE"));
  }

  /** Another context continues: the last answer to the probe in C does not belong to it. */
  private void changed(long now, Runnable change) {
    frames();
    time = now;
    change.run();
    core.set("answered", 0);
    useCurrentContext();
  }

  /** {@code Probe.interruptEnter}. */
  void interruptEnter(long number, long pc, long now, long stackPointer, boolean tell) {
    changed(now, () -> contexts.interruptEnter(number, pc, stackPointer, false, tell));
  }

  /** {@code Probe.interruptExit}. */
  void interruptExit(long pc, long now, long stackPointer) {
    changed(now, () -> contexts.interruptExit(pc, stackPointer));
  }

  /** {@code Probe.signalEnter}. */
  void signalEnter(
      long number,
      long pc,
      long now,
      long sp,
      long top,
      long stack,
      long stackBytes,
      boolean tell) {
    changed(now, () -> contexts.signalEnter(number, pc, sp, top, stack, stackBytes, tell));
  }

  /** {@code Probe.signalExit}. */
  void signalExit(long top, long pc, long now, long stackPointer) {
    changed(now, () -> contexts.signalExit(top, pc, stackPointer));
  }

  /** {@code Probe.threadSwitched}. */
  void threadSwitched(long id, boolean ended, long now, long stackPointer) {
    changed(now, () -> contexts.threadSwitched(id, ended, stackPointer));
  }

  /** {@code Probe.innermost}. */
  Map<Long, Long> innermost() {
    frames();
    return contexts.innermost();
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
  public long now() {
    return time;
  }

  /** {@link Contexts#keyframe}. */
  Keyframe keyframe() {
    frames();
    return contexts.keyframe(core.get("code_mask"));
  }

  @Override
  public void over(NativeFrames left) {
    idle.push(left);
  }
}
