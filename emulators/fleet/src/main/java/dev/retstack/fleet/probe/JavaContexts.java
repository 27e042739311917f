package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.TraceClock;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.schema.codec.RecordBatch;
import java.util.function.Supplier;

/** The contexts of a core whose probe is in Java. */
final class JavaContexts implements Contexts.Listener<JavaFrames>, Unwinding.Stacks {
  private final Contexts<JavaFrames> contexts;
  private final EventRecords events;
  private final Supplier<RecordBatch> batch;
  private final TraceClock clock;
  private final long codeMask;
  private final Supplier<SiteRules> rules;
  private final TaskRules tasks;

  /** The one that the core is in. */
  private Context<JavaFrames> current;

  private boolean muted;

  /**
   * One task.
   *
   * @param batch where records go now
   * @param limit most frames of a context
   */
  JavaContexts(
      EventRecords events,
      Supplier<RecordBatch> batch,
      TraceClock clock,
      long codeMask,
      StackRegions regions,
      TaskRules tasks,
      EntryPoints points,
      int limit,
      GivenUp givenUp) {
    this.events = events;
    this.batch = batch;
    this.clock = clock;
    this.codeMask = codeMask;
    rules = points::rules;
    this.tasks = tasks;
    contexts =
        new Contexts<>(
            () -> new JavaFrames(limit, points.rules().settings(), points),
            regions,
            tasks,
            this,
            givenUp);
    goOn();
  }

  private void goOn() {
    current = contexts.current();
    muted = rules.get().tasks().mutes(current.task.id);
  }

  /** True in a task that is not meant. */
  boolean isMuted() {
    return muted;
  }

  /** The frames of the current context. */
  JavaFrames frames() {
    return current.frames;
  }

  /** True where an address is in the current window: nothing is to be asked. */
  boolean holds(long address) {
    return contexts.holds(address);
  }

  /** True for an entry whose slot lies elsewhere, or where another task is declared to run. */
  boolean isToAsk(long retP) {
    return !contexts.holds(retP) || (tasks.areDeclared() && contexts.isOther());
  }

  /** True where it makes a difference which task runs, though no return is hijacked. */
  boolean areAsked() {
    return rules.get().tasks().isActive() || tasks.areDeclared();
  }

  /**
   * Makes the context current that an entry belongs to.
   *
   * @param isTask true where the function is declared to do something with tasks
   * @param from where it returns to
   * @param fp its caller's frame pointer
   * @return false where there are too many tasks: the entry is to be left alone
   */
  boolean place(
      boolean isTask, EntryPoints.Site site, EntrySlot slot, AbiCard card, long from, long fp) {
    boolean entered;
    if (isTask) {
      int index = tasks.functions().argument();
      long argument = index < card.arguments().size() ? slot.argument(card, index) : 0;
      TaskFilter filter = rules.get().tasks();
      entered = tasks.enter(contexts, filter, site.selfPc(), from, slot.retP(), fp, argument);
    } else {
      entered = contexts.enter(slot.retP(), fp);
    }
    goOn();
    return entered;
  }

  /** {@link Contexts#leaveEmptyHandler}; false where there was none. */
  boolean leaveHandler(long pc) {
    if (!current.isHandlerOver()) {
      return false;
    }
    contexts.leaveEmptyHandler(pc);
    goOn();
    return true;
  }

  /** {@link Contexts#exit}. */
  GivenUp.Frame exit(int handler, long stackPointer, long above, GivenUp.Arrival arrival) {
    GivenUp.Frame dead = contexts.exit(handler, stackPointer, above, arrival);
    goOn();
    return dead;
  }

  /** {@link Contexts#giveUp(int)}. */
  void giveUp(int keep) {
    if (keep < current.frames.size()) {
      contexts.giveUp(keep);
    }
  }

  /** {@link Probe#interruptEnter}. */
  void interruptEnter(long number, long pc, long stackPointer, boolean tell) {
    contexts.interruptEnter(number, pc, stackPointer, false, tell);
    goOn();
  }

  /** {@link Probe#interruptExit}. */
  void interruptExit(long pc, long stackPointer) {
    contexts.interruptExit(pc, stackPointer);
    goOn();
  }

  /** From here on other settings count, in all of them. */
  void follow(SiteRules next) {
    contexts.all().forEach(frames -> frames.follow(next));
    goOn();
  }

  /** {@link JavaFrames#forgetSlots}, in all of them. */
  void forgetSlots() {
    contexts.all().forEach(JavaFrames::forgetSlots);
  }

  @Override
  public Iterable<JavaFrames> stacks() {
    return contexts.all();
  }

  @Override
  public boolean mayShareStack(long one, long other) {
    return contexts.mayShareStack(one, other);
  }

  @Override
  public void write(JavaFrames left) {
    left.late.writeAll(left.visible(), events, batch.get(), codeMask);
  }

  @Override
  public void record(byte kind, int depth, long selfPc, long fromPc, long retP) {
    events.record(batch.get(), kind, clock.now(), depth, selfPc, fromPc, retP, 0);
  }

  @Override
  public void over(JavaFrames left) {}
}
