package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.Operands;
import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.probe.task.Contexts;
import dev.retstack.fleet.probe.task.TaskFilter;
import dev.retstack.fleet.probe.task.TaskRules;
import dev.retstack.fleet.probe.unwind.Unwinding;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.util.Map;
import java.util.function.Supplier;

/** The contexts of a core whose probe is in Java. */
final class JavaContexts implements Contexts.Listener<RuledStack>, Unwinding.Stacks {
  private final Contexts<RuledStack> contexts;
  private final EventRecords events;
  private final Supplier<RecordBatch> batch;
  private final TraceClock clock;
  private final long codeMask;
  private final Supplier<SiteRules> rules;
  private final TaskRules tasks;

  private final Operands operands;

  private boolean muted;

  /**
   * One task.
   *
   * @param batch where records go now
   */
  JavaContexts(
      EventRecords events,
      Supplier<RecordBatch> batch,
      TraceClock clock,
      long codeMask,
      ProbePlan plan,
      GivenUp givenUp,
      Operands operands,
      long wordBytes) {
    long nearest = plan.regions().inPieces() ? wordBytes : -1;
    EntryPoints points = plan.points();
    this.operands = operands;
    this.events = events;
    this.batch = batch;
    this.clock = clock;
    this.codeMask = codeMask;
    rules = points::rules;
    tasks = plan.tasks();
    contexts =
        new Contexts<>(
            () ->
                new RuledStack(
                    plan.retStackLimit(), points.rules().settings(), points::up, nearest),
            plan.regions(),
            tasks,
            this,
            givenUp);
    updateMuted();
  }

  private void updateMuted() {
    muted = rules.get().tasks().mutes(contexts.task());
  }

  /** True in a task that is not meant. */
  boolean isMuted() {
    return muted;
  }

  /** The frames of the current context. */
  RuledStack frames() {
    return contexts.frames();
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
      long argument = index < card.arguments().size() ? operands.argument(card, index) : 0;
      TaskFilter filter = rules.get().tasks();
      entered = tasks.enter(contexts, filter, site.selfPc(), from, slot.retP(), fp, argument);
    } else {
      entered = contexts.enter(slot.retP(), fp);
    }
    updateMuted();
    return entered;
  }

  /** {@link Contexts#leaveEmptyHandler}; false where there was none. */
  boolean leaveHandler(long pc) {
    if (!contexts.isHandlerOver()) {
      return false;
    }
    contexts.leaveEmptyHandler(pc);
    updateMuted();
    return true;
  }

  /** {@link Contexts#exit}. */
  GivenUp.Frame exit(int handler, long stackPointer, long above, GivenUp.Arrival arrival) {
    GivenUp.Frame dead = contexts.exit(handler, stackPointer, above, arrival);
    updateMuted();
    return dead;
  }

  /** {@link Contexts#giveUp(int)}. */
  void giveUp(int keep) {
    if (keep < contexts.frames().size()) {
      contexts.giveUp(keep);
    }
  }

  /** {@code Probe.interruptEnter}. */
  void interruptEnter(long number, long pc, long stackPointer, boolean tell) {
    contexts.interruptEnter(number, pc, stackPointer, false, tell);
    updateMuted();
  }

  /** {@code Probe.interruptExit}. */
  void interruptExit(long pc, long stackPointer) {
    contexts.interruptExit(pc, stackPointer);
    updateMuted();
  }

  /** {@code Probe.signalEnter}. */
  void signalEnter(
      long number, long pc, long sp, long top, long stack, long stackBytes, boolean tell) {
    contexts.signalEnter(number, pc, sp, top, stack, stackBytes, tell);
    updateMuted();
  }

  /** {@code Probe.signalExit}. */
  void signalExit(long top, long pc, long stackPointer) {
    contexts.signalExit(top, pc, stackPointer);
    updateMuted();
  }

  /** {@code Probe.threadSwitched}. */
  void threadSwitched(long id, boolean ended, long stackPointer) {
    contexts.threadSwitched(id, ended, stackPointer);
    updateMuted();
  }

  /** {@code Probe.innermost}. */
  Map<Long, Long> innermost() {
    return contexts.innermost();
  }

  /** From here on other settings count, in all of them. */
  void follow(SiteRules next) {
    contexts.all().forEach(frames -> frames.follow(next));
    updateMuted();
  }

  /** {@link RuledStack#forgetSlots}, in all of them. */
  void forgetSlots() {
    contexts.all().forEach(RuledStack::forgetSlots);
  }

  @Override
  public Contexts<RuledStack> contexts() {
    return contexts;
  }

  @Override
  public void leaveHandlers(long stackPointer) {
    contexts.leaveHandlers(stackPointer);
    updateMuted();
  }

  @Override
  public void giveUpBelow(long stackPointer, long address) {
    contexts.giveUpBelow(stackPointer, address);
    updateMuted();
  }

  @Override
  public void write(RuledStack left) {
    left.late.writeAll(left.visible(), events, batch.get(), codeMask);
  }

  @Override
  public void record(byte kind, int depth, long selfPc, long fromPc, long retP) {
    events.record(batch.get(), kind, clock.now(), depth, selfPc, fromPc, retP, 0);
  }

  @Override
  public long now() {
    return clock.now();
  }

  @Override
  public void over(RuledStack left) {}

  /** {@link Contexts#keyframe}. */
  Keyframe keyframe() {
    return contexts.keyframe(codeMask);
  }
}
