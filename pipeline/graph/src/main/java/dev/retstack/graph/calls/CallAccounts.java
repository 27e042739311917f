package dev.retstack.graph.calls;

import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.AnomalyLog;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.CallerPcs;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.totals.CallDigest;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.OpenCounts;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.StackFold;
import dev.retstack.graph.tree.Stacks;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Adds up the calls of a core: totals, call tree, digest, stats and anomalies. It also passes
 * events to the publishers. The stacks of the core report each event in the order in which it
 * happens.
 *
 * <p>One stack is current at a time. Open calls are counted for the current stack only, because
 * recursion counts once per stack. They are subtracted when the stack is left and when a chunk
 * ends. That takes as many steps as calls are open.
 */
class CallAccounts {
  private final CoreGraph core;
  private final CallTreeLog tree;
  private final StatCounts stats;
  private final CoreEvents other;
  private final CallerPcs callers;

  /** All zero whenever no chunk of a core is being taken. */
  private final OpenCounts open;

  /** The stack at hand, null where it is not kept, and what its calls add up to. */
  private ShadowStack stack;

  private CallProfile profile;

  CallAccounts(CoreGraph core, CallerPcs callers) {
    this.core = core;
    this.profile = core.profile();
    this.tree = core.tree();
    this.stats = core.stats();
    this.other = core.other();
    this.callers = callers;
    this.open = core.isByTask() ? new OpenCounts() : profile.openCounts();
  }

  CallTreeLog tree() {
    return tree;
  }

  /** What counts in totals. */
  TimeRules rules() {
    return core.rules();
  }

  OpenCounts openCounts() {
    return open;
  }

  /**
   * A call began.
   *
   * @param parent slot of the open call that encloses it, or {@link Frames#NONE}
   * @param caller slot of the function that called it, or {@link Frames#NONE} where unknown;
   *     differs from the parent after a tail call, when the caller has just finished
   */
  void entered(ShadowStack on, int slot, int parent, int caller, long selfPc, long time) {
    Frames f = on.frames;
    int callerFunction = caller < 0 ? CallProfile.NO_CALLER : f.function(caller);
    int arc = profile.arc(callerFunction, selfPc);
    if (on.isHidden()) {
      arc = CallProfile.NOT_KEPT;
    } else if (arc < 0) {
      arc = newArc(callerFunction, selfPc);
    }
    int function = CallProfile.NOT_KEPT;
    if (arc >= 0) {
      function = profile.arcs().entered(arc);
      open.open(arc, function);
    }
    int row = enterTree(on, parent, selfPc, time);
    other.begun(row);
    f.begin(
        slot,
        caller < 0 ? 0 : f.selfPc(caller),
        time,
        arc,
        function,
        parent < 0 ? 0 : f.level(parent) + 1,
        row,
        time - on.notRun(),
        on.leftOut());
  }

  /**
   * A call began before a segment does: it is a row of its tree, and adds to nothing yet.
   *
   * @return false where it is not kept
   */
  boolean inherited(ShadowStack on, int slot, long selfPc, long time) {
    Frames f = on.frames;
    int caller = slot == 0 ? CallProfile.NO_CALLER : f.function(slot - 1);
    int arc = profile.arc(caller, selfPc);
    arc = arc < 0 ? newArc(caller, selfPc) : arc;
    if (arc < 0 || tree.isFull()) {
      return false;
    }
    int row = tree.enter(selfPc, slot - 1, time);
    long callerPc = slot == 0 ? 0 : f.selfPc(slot - 1);
    f.begin(slot, callerPc, time, arc, profile.arcs().callee(arc), slot, row, time, 0);
    return true;
  }

  /** Not met before, or beyond the limits. */
  private int newArc(int caller, long selfPc) {
    int function = profile.function(selfPc);
    if (function < 0) {
      stats.add(Stat.FUNCTIONS_NOT_KEPT, 1);
      return CallProfile.NOT_KEPT;
    }
    int arc = profile.newArc(caller, function);
    if (arc < 0) {
      stats.add(Stat.EDGES_NOT_KEPT, 1);
      arc = profile.arcOf(CallProfile.NO_CALLER, function);
    }
    return arc;
  }

  private int enterTree(ShadowStack on, int parent, long selfPc, long time) {
    if (on.isHidden()) {
      return CallTreeLog.NONE;
    }
    if (tree.isFull()) {
      stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
      return CallTreeLog.NONE;
    }
    int above = row(on, parent);
    int row = tree.enter(selfPc, above, time);
    if (above < 0) {
      tree.setTask(row, on.task().id(), on.task().instance());
    }
    return row;
  }

  /** Row of the tree of the call in a slot, or none. */
  private static int row(ShadowStack on, int slot) {
    return slot < 0 ? on.losses.row() : on.frames.row(slot);
  }

  /**
   * A call ended. For {@link Ending#TRUNCATED} the time is that of the loss, not of the end.
   *
   * @param parent as in {@link #entered}
   */
  void finished(ShadowStack on, int slot, int parent, long time, Ending ending) {
    Frames f = on.frames;
    final long enter = f.enter(slot);
    final long ran = on.ran(slot, time);
    final long self = ran - f.children(slot);
    final long took = core.rules().graphTime() ? on.took(slot, time) : self;
    int arc = f.arc(slot);
    if (arc >= 0) {
      close(arc, f.function(slot), took, self, time - enter, ending.finished());
    }
    if (parent >= 0) {
      f.addChild(parent, ran);
    }
    int row = f.row(slot);
    other.ended(row);
    if (row >= 0) {
      tree.finish(row, time, ending);
      tree.setTimes(row, time - enter - ran, time - enter - on.took(slot, time));
    }
    core.setDigest(
        CallDigest.add(core.digest(), f.selfPc(slot), enter, time, f.level(slot), ending.code()));
    place(on, f.depth(slot), f.selfPc(slot), enter, time);
    GraphEvents events = core.events();
    if (events != null
        && ending.finished()
        && time - enter >= events.threshold()
        && !on.isHidden()) {
      events.finished(FinishedCall.of(core, on, slot, time, self, ending));
    }
  }

  /** Puts a call where its time is, if anyone wants to know that. */
  private void place(ShadowStack on, int depth, long selfPc, long enter, long exit) {
    if (on.isHidden()) {
      return;
    }
    TracedTask task = on.task();
    if (core.pyramid() != null) {
      core.pyramid().turnTo(task.id(), task.instance(), on.interrupts());
      core.pyramid().call(depth, selfPc, enter, exit);
    }
    GraphEvents events = core.events();
    if (events != null && events.places(core, selfPc)) {
      Line line = new Line(Line.Kind.CALLS, task.id(), task.instance(), on.interrupts(), depth);
      events.placed(core, line, selfPc, enter, exit);
    }
  }

  private void close(int arc, int function, long duration, long self, long wall, boolean counts) {
    boolean alone = !core.rules().graphTime(); // own times do not overlap
    boolean outermostOfArc = open.closeArc(arc) || alone;
    boolean outermost = open.closeFunction(function);
    if (counts) {
      long added = outermost || alone ? duration : 0;
      long beyond = (outermost ? wall : 0) - added;
      profile.arcs().finished(arc, duration, self, outermostOfArc);
      if (added != 0) {
        profile.addTotal(function, added);
      }
      if (beyond != 0) {
        profile.addBeyond(function, beyond);
      }
    }
  }

  /**
   * Takes a run of {@linkplain RecordBatch#links linked} records at once, or none of them. It is as
   * if {@link #entered} and {@link #finished} had been called for each; the calls that are open
   * after it stand on the stack then.
   *
   * @param first index of the first record, an entry right above the topmost frame
   * @param room calls that may be open above that frame at a time
   * @return index of the first record not taken
   */
  int linked(ShadowStack on, RecordBatch batch, int first, int room) {
    StackFold fold = core.fold();
    boolean inStacks = fold != null && !tree.isFull();
    if ((!tree.isFull() && !inStacks)
        || !core.rules().graphTime()
        || on.isHidden()
        || core.isByTask()
        || batch.time[first] < 0) {
      return first;
    }
    int parent = on.frames.size() - 1;
    int row = row(on, parent);
    int node = inStacks ? fold.around(row, on.task().id(), on.task().instance()) : Stacks.NONE;
    if (inStacks && node == Stacks.NONE) {
      return first;
    }
    other.next();
    LinkedCalls linked = core.linked();
    int end = linked.run(core, on, batch, first, room);
    linked.handOver(on, batch, end);
    if (inStacks) {
      fold.run(batch, first, end, row, node);
      enterTree(on, parent + 1, fold);
    } else {
      stats.add(Stat.TREE_CALLS_NOT_KEPT, (end - first + linked.frames()) / 2);
    }
    return end;
  }

  /** Calls from this slot on are left open by a run: they become rows. */
  private void enterTree(ShadowStack on, int first, StackFold fold) {
    Frames f = on.frames;
    for (int slot = first; slot < f.size(); slot++) {
      int row = enterTree(on, slot - 1, f.selfPc(slot), f.enter(slot));
      f.setRow(slot, row);
      fold.ranIn(row, f.children(slot));
    }
  }

  /**
   * A function was called whose return is not seen: no frame, no duration.
   *
   * @param parent slot of the innermost open call, or {@link Frames#NONE}
   * @param caller slot of the function that jumped here, or {@link Frames#NONE} where {@code
   *     fromPc}, to which it will return, shows it
   */
  void called(ShadowStack on, int parent, int caller, long selfPc, long fromPc, long time) {
    int callerFunction =
        caller < 0 ? profile.function(callers.of(fromPc)) : on.frames.function(caller);
    if (!profile.call(callerFunction, profile.function(selfPc))) {
      stats.add(Stat.FUNCTIONS_NOT_KEPT, 1);
    }
    countNotKept();
    place(on, on.frames.topDepth() + 1, selfPc, time, time);
    other.function(row(on, parent), selfPc, fromPc, time);
  }

  /** A system call begins, made by the innermost open call. */
  void systemCall(ShadowStack on, int parent, long number, long time) {
    countNotKept();
    on.systemCall.notRun = on.notRun();
    other.systemCall(on.systemCall, row(on, parent), number, time);
  }

  /** The system call ends; the result is of no meaning unless it returned. */
  void systemCallEnded(ShadowStack on, long result, long time, Ending ending) {
    ShadowStack.SystemCall call = on.systemCall;
    if (call.row >= 0 && ending == Ending.RETURNED) {
      tree.setTimes(call.row, on.notRun() - call.notRun, 0);
    }
    other.systemCallEnded(call, result, time, ending);
  }

  /**
   * Tracing changed, or somebody asked for a stack trace.
   *
   * @param parent slot of the innermost open call, or {@link Frames#NONE}
   * @param what a code of {@link dev.retstack.schema.record.Mark}
   * @param selfPc the function where it happened, 0 for none
   * @param command number of the command that did it, 0 for none
   * @param calls selfPc of the open calls, innermost first
   */
  void mark(
      ShadowStack on, int parent, long what, long selfPc, long command, long time, LongList calls) {
    countNotKept();
    other.mark(row(on, parent), what, selfPc, command, time, calls);
  }

  private void countNotKept() {
    if (tree.isFullBeside()) {
      stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
    }
  }

  /** Values of the record ahead: arguments of a call or system call, or what a call returned. */
  void values(int depth, long... values) {
    if (!other.values(depth, values)) {
      stats.add(Stat.VALUES_NOT_KEPT, 1);
    }
  }

  /** A record comes that is not ordinary: values that follow belong to what it says, if to any. */
  void next() {
    other.next();
  }

  /** Records are missing; the stacks say later what that means. */
  void lost(Loss loss) {
    core.losses().add(loss);
    if (core.pyramid() != null) {
      core.pyramid().lost(loss.records(), loss.after(), loss.until());
    }
    if (stack != null) {
      stack.losses.add(loss, stack.task());
    } else {
      StackLosses.enter(tree, loss, 0, 1);
    }
  }

  /**
   * Something is wrong or missing.
   *
   * @param selfPc the function concerned, 0 = none
   * @param place see {@link Anomaly#place}
   * @param count frames, calls or records concerned
   * @return whether {@link #anomaly} shall follow; what is not wanted is only counted
   */
  boolean found(AnomalyKind kind, long selfPc, long place, long time, long count) {
    if (core.pyramid() != null) {
      core.pyramid().anomaly(selfPc, time);
    }
    AnomalyLog.Where where = new AnomalyLog.Where(kind, selfPc, place, task(), instance());
    return core.anomalies().found(where, time, count);
  }

  /** What was found, with all that is known of it; called only where {@link #found} said so. */
  void anomaly(Anomaly anomaly) {
    Anomaly placed = anomaly.in(task(), instance());
    core.anomalies().add(placed);
    if (core.events() != null) {
      core.events().anomaly(core, placed);
    }
  }

  /** Calls ended without their exits; this is the innermost one. */
  void unwound(long selfPc, long time, int calls) {
    stats.add(Stat.UNWOUND_CALLS, calls);
    if (core.pyramid() != null) {
      core.pyramid().unwound(selfPc, time);
    }
  }

  /** A task was switched out for this time. */
  void away(TracedTask task, long since, long now) {
    if (core.pyramid() != null) {
      core.pyramid().away(task.id(), task.instance(), since, now);
    }
  }

  /** A ret_stack of this task, which need not be at hand, differs from the core's. */
  void differs(TracedTask task, Anomaly anomaly) {
    stats.add(anomaly.kind().stat(), 1);
    if (core.pyramid() != null) {
      core.pyramid().anomaly(anomaly.selfPc(), anomaly.time());
    }
    AnomalyLog.Where where =
        new AnomalyLog.Where(
            anomaly.kind(), anomaly.selfPc(), anomaly.place(), task.id(), task.instance());
    if (!core.anomalies().found(where, anomaly.time(), 1)) {
      stats.add(Stat.ANOMALIES_NOT_KEPT, 1);
      return;
    }
    Anomaly placed = anomaly.in(task.id(), task.instance());
    core.anomalies().add(placed);
    if (core.events() != null) {
      core.events().anomaly(core, placed);
    }
  }

  private long task() {
    return stack == null ? 0 : stack.task().id();
  }

  private int instance() {
    return stack == null ? 1 : stack.task().instance();
  }

  /** Whether all tasks and interrupts of the core were kept so far. */
  boolean isEachTaskKept() {
    return stats.get(Stat.TASKS_NOT_KEPT) == 0;
  }

  /** Adds to a stat. */
  void count(Stat stat, long amount) {
    stats.add(stat, amount);
  }

  /** A chunk of this core is taken: its open calls are those that count. */
  void begin() {
    for (int slot = 0; stack != null && slot < stack.frames.size(); slot++) {
      Frames f = stack.frames;
      if (!f.hasEnded(slot) && f.arc(slot) >= 0) {
        open.open(f.arc(slot), f.function(slot));
      }
    }
  }

  /** The chunk is taken: another core may be next. */
  void rest() {
    for (int slot = 0; stack != null && slot < stack.frames.size(); slot++) {
      Frames f = stack.frames;
      if (!f.hasEnded(slot) && f.arc(slot) >= 0) {
        open.close(f.arc(slot), f.function(slot));
      }
    }
  }

  /** From now on what happens is of this stack. */
  void resumed(ShadowStack next) {
    if (next != stack) {
      rest();
      stack = next;
      profile = core.isByTask() ? core.profile(next) : core.profile();
      begin();
      other.next();
    }
  }

  /** The records that follow are of a task that is not kept. */
  void nowhere() {
    rest();
    stack = null;
    profile = core.profile();
  }

  /** The stack is over, no call is open on it. */
  void closed(ShadowStack over) {
    if (stack == over) {
      nowhere();
    }
  }

  /** Switches from the current task to this one. */
  void switchedOut(ShadowStack on, TracedTask next, long time) {
    core.mixContext(TreeKind.SWITCH, next.id(), next.instance(), time);
    int parent = on.innermost();
    on.switchRow = CallTreeLog.NONE;
    if (parent >= 0 && !on.isHidden()) {
      on.switchRow = row(on, TreeKind.SWITCH, next.id(), row(on, parent), time);
    }
    if (on.switchRow >= 0) {
      LongList to = LongList.of(next.id(), next.instance());
      tree.argumentsOf(on.switchRow).set(on.switchRow, 0, to);
    }
  }

  /**
   * The task at hand is switched in again.
   *
   * @param known until when it is known that it was out, negative where that is {@code time}
   */
  void switchedIn(ShadowStack on, long known, long time) {
    if (on.switchRow >= 0) {
      boolean certain = known < 0;
      long until = certain ? time : known;
      tree.finish(on.switchRow, until, certain ? Ending.RETURNED : Ending.TRUNCATED);
      tree.bound(on.switchRow, time);
      on.switchRow = CallTreeLog.NONE;
    }
  }

  /**
   * A stack is interrupted; {@link #resumed} follows with that of the interrupt.
   *
   * @param fromPc where it was
   */
  void interrupted(ShadowStack on, ShadowStack interrupt, long fromPc, long time) {
    core.interrupts().begun(interrupt.number());
    core.mixContext(TreeKind.INTERRUPT, interrupt.number(), fromPc, time);
    if (core.rules().interrupts()) {
      countNotKept();
      int row = row(on, TreeKind.INTERRUPT, interrupt.number(), row(on, on.innermost()), time);
      interrupt.losses.setBase(row);
      if (row >= 0) {
        tree.resultsOf(row).set(row, 0, LongList.of(fromPc));
      }
    }
  }

  private int row(ShadowStack on, TreeKind kind, long selfPc, int above, long time) {
    if (tree.isFullBeside()) {
      return CallTreeLog.NONE;
    }
    int row = tree.enter(kind, selfPc, above, time);
    if (above < 0) {
      tree.setTask(row, on.task().id(), on.task().instance());
    }
    return row;
  }

  /**
   * The interrupt is over; or, where it was cut off by a loss, another may have taken its place.
   *
   * @param lasted how long it ran itself
   */
  void interruptEnded(ShadowStack on, long lasted, long time, Ending ending) {
    core.mixContext(TreeKind.INTERRUPT, on.number(), ending.code(), time);
    if (ending == Ending.RETURNED) {
      core.interrupts().ended(on.number(), lasted);
    }
    int row = on.losses.base();
    if (row >= 0) {
      tree.finish(row, time, ending);
      tree.setTimes(row, ending == Ending.RETURNED ? time - tree.enter(row) - lasted : 0, 0);
      on.losses.setBase(CallTreeLog.NONE);
    }
  }

  /** A core was read of which this stack, or null, is the one at hand. */
  void restored(ShadowStack current) {
    if (current != null) {
      resumed(current);
      rest();
    }
  }
}
