package dev.retstack.graph.aggregate;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.CoreTask;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.GraphListener;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.reconstruct.StackContext;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.schema.codec.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Hears the reconstruction of a core and adds up. */
final class CoreAccountant implements GraphListener {
  private final CoreGraph core;
  private final CallTreeLog tree;
  private final StatCounts stats;
  private final CoreEvents other;
  private final CallerPcs callers;
  private final CoreContexts at;
  private final OpenCounts open;

  /** The stack at hand, its open calls, and what they add up to. */
  private ContextCalls context;

  private OpenCalls calls;
  private CallProfile profile;

  CoreAccountant(CoreGraph core, CallerPcs callers) {
    this.core = core;
    this.profile = core.profile();
    this.tree = core.tree();
    this.stats = core.stats();
    this.other = core.other();
    this.callers = callers;
    this.open = core.isByTask() ? new OpenCounts() : profile.openCounts();
    this.at = new CoreContexts(tree, open);
    this.context = at.context();
    this.calls = context.calls;
  }

  OpenCalls calls() {
    return calls;
  }

  OpenCounts openCounts() {
    return open;
  }

  /** The stacks in use. */
  CoreContexts contexts() {
    return at;
  }

  @Override
  public void entered(int slot, int parent, int caller, long selfPc, long time) {
    OpenCalls c = calls;
    int callerFunction = caller < 0 ? CallProfile.NO_CALLER : c.function(caller);
    int arc = profile.arc(callerFunction, selfPc);
    if (isHidden()) {
      arc = CallProfile.NOT_KEPT;
    } else if (arc < 0) {
      arc = newArc(callerFunction, selfPc);
    }
    int function = CallProfile.NOT_KEPT;
    if (arc >= 0) {
      function = profile.arcs().entered(arc);
      open.open(arc, function);
    }
    int row = enterTree(parent, selfPc, time);
    other.begun(row);
    c.enter(
        slot,
        selfPc,
        caller < 0 ? 0 : c.selfPc(caller),
        time,
        arc,
        function,
        parent < 0 ? 0 : c.level(parent) + 1,
        row);
  }

  @Override
  public int linked(RecordBatch batch, int first, int parent, int room, IntArrayList opened) {
    if (!tree.isFull() || !core.rules().graphTime() || isHidden() || core.isByTask()) {
      return first;
    }
    other.next();
    LinkedCalls linked = core.linked();
    int end = linked.run(core, batch, first, parent, room);
    stats.add(Stat.TREE_CALLS_NOT_KEPT, (end - first + linked.frames()) / 2);
    linked.handOver(calls, parent, batch, first, end, opened);
    return end;
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

  private int enterTree(int parent, long selfPc, long time) {
    if (isHidden()) {
      return CallTreeLog.NONE;
    }
    if (tree.isFull()) {
      stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
      return CallTreeLog.NONE;
    }
    int above = row(parent);
    int row = tree.enter(selfPc, above, time);
    if (above < 0) {
      tree.setTask(row, context.task, context.instance);
    }
    return row;
  }

  /** Whether what happens on the stack at hand is not shown. */
  private boolean isHidden() {
    return context.interrupt && !core.rules().interrupts();
  }

  /** Row of the tree of the call in a slot, or none. */
  private int row(int slot) {
    return slot < 0 ? context.losses.row() : calls.treeCall(slot);
  }

  @Override
  public void finished(int slot, int parent, long time, Ending ending) {
    OpenCalls c = calls;
    final long enter = c.entered(slot);
    final long ran = c.ran(slot, time);
    final long self = ran - c.children(slot);
    final long took = core.rules().graphTime() ? c.took(slot, time) : self;
    int arc = c.arc(slot);
    if (arc >= 0) {
      close(arc, c.function(slot), took, self, ending.finished());
    }
    if (parent >= 0) {
      c.addChild(parent, ran);
    }
    int row = c.treeCall(slot);
    other.ended(row);
    if (row >= 0) {
      tree.finish(row, time, ending);
      tree.setTimes(row, time - enter - ran, time - enter - c.took(slot, time));
    }
    core.setDigest(
        CoreGraph.mix(core.digest(), c.selfPc(slot), enter, time, c.level(slot), ending.code()));
    GraphEvents events = core.events();
    if (events != null && ending.finished() && took >= events.threshold() && !isHidden()) {
      events.finished(FinishedCall.of(core, context, slot, time, self, ending));
    }
  }

  private void close(int arc, int function, long duration, long self, boolean counts) {
    boolean alone = !core.rules().graphTime(); // own times do not overlap
    boolean outermostOfArc = open.closeArc(arc) || alone;
    boolean outermost = open.closeFunction(function) || alone;
    if (counts) {
      profile.arcs().finished(arc, duration, self, outermostOfArc);
      if (outermost) {
        profile.addTotal(function, duration);
      }
    }
  }

  @Override
  public void called(int parent, int caller, long selfPc, long fromPc, long time) {
    int callerFunction = caller < 0 ? profile.function(callers.of(fromPc)) : calls.function(caller);
    if (!profile.call(callerFunction, profile.function(selfPc))) {
      stats.add(Stat.FUNCTIONS_NOT_KEPT, 1);
    }
    countNotKept();
    other.function(row(parent), selfPc, fromPc, time);
  }

  @Override
  public void systemCall(int parent, long number, long time) {
    countNotKept();
    context.systemCall.notRun = calls.notRun();
    other.systemCall(context.systemCall, row(parent), number, time);
  }

  @Override
  public void systemCallEnded(long result, long time, Ending ending) {
    if (context.systemCall.row >= 0 && ending == Ending.RETURNED) {
      long elsewhere = calls.notRun() - context.systemCall.notRun;
      tree.setTimes(context.systemCall.row, elsewhere, 0);
    }
    other.systemCallEnded(context.systemCall, result, time, ending);
  }

  @Override
  public void mark(int parent, long what, long selfPc, long command, long time, LongList stack) {
    countNotKept();
    other.mark(row(parent), what, selfPc, command, time, stack);
  }

  private void countNotKept() {
    if (tree.isFullBeside()) {
      stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
    }
  }

  @Override
  public void values(int depth, long... values) {
    if (!other.values(depth, values)) {
      stats.add(Stat.VALUES_NOT_KEPT, 1);
    }
  }

  @Override
  public void next() {
    other.next();
  }

  @Override
  public void lost(Loss loss) {
    core.losses().add(loss);
    context.losses.add(loss);
  }

  @Override
  public void settled() {
    context.losses.settled();
  }

  @Override
  public void holeOpened(int slot) {
    context.losses.opened(slot < 0 ? CallTreeLog.NONE : calls.treeCall(slot));
  }

  @Override
  public void holeClosed(int slot, long lasted, long now) {
    if (slot >= 0) {
      calls.addChild(slot, lasted); // unknown calls ran: it is nobody's own time
    }
    context.losses.closed(now);
  }

  @Override
  public void bounded(int slot, long now) {
    int row = calls.treeCall(slot);
    if (row >= 0) {
      tree.bound(row, now);
    }
  }

  @Override
  public boolean found(AnomalyKind kind, long selfPc, long place, long time, long count) {
    AnomalyLog.Where where =
        new AnomalyLog.Where(kind, selfPc, place, context.task, context.instance);
    return core.anomalies().found(where, time, count);
  }

  @Override
  public void anomaly(Anomaly anomaly) {
    Anomaly placed = anomaly.in(context.task, context.instance);
    core.anomalies().add(placed);
    if (core.events() != null) {
      core.events().anomaly(AnomalyRow.of(core, placed));
    }
  }

  @Override
  public void count(Stat stat, long amount) {
    stats.add(stat, amount);
  }

  @Override
  public void resumed(StackContext next) {
    if (at.resume(next)) {
      takeUp();
      other.next();
    }
  }

  private void takeUp() {
    context = at.context();
    calls = context.calls;
    profile = core.isByTask() && at.stack() != null ? core.profile(context) : core.profile();
  }

  @Override
  public void nowhere() {
    at.nowhere();
    takeUp();
  }

  @Override
  public void closed(StackContext over) {
    at.close(over);
    takeUp();
  }

  @Override
  public void clock(long away, long interrupts, long unsure) {
    calls.clock(away + interrupts + unsure, core.rules().leftOut(away, interrupts, unsure));
  }

  @Override
  public void switchedOut(int parent, CoreTask next, long time) {
    core.mixContext(TreeKind.SWITCH, next.id(), next.instance(), time);
    context.switchRow = CallTreeLog.NONE;
    if (parent >= 0 && !isHidden()) {
      context.switchRow = row(TreeKind.SWITCH, next.id(), row(parent), time);
    }
    if (context.switchRow >= 0) {
      LongList to = LongList.of(next.id(), next.instance());
      tree.argumentsOf(context.switchRow).set(context.switchRow, 0, to);
    }
  }

  @Override
  public void switchedIn(long known, long time) {
    if (context.switchRow >= 0) {
      boolean certain = known < 0;
      long until = certain ? time : known;
      tree.finish(context.switchRow, until, certain ? Ending.RETURNED : Ending.TRUNCATED);
      tree.bound(context.switchRow, time);
      context.switchRow = CallTreeLog.NONE;
    }
  }

  @Override
  public void interrupted(int parent, StackContext interrupt, long fromPc, long time) {
    core.interrupts().begun(interrupt.number());
    core.mixContext(TreeKind.INTERRUPT, interrupt.number(), fromPc, time);
    if (core.rules().interrupts()) {
      countNotKept();
      int above = row(parent);
      int row = row(TreeKind.INTERRUPT, interrupt.number(), above, time);
      at.setBase(row);
      if (row >= 0) {
        tree.resultsOf(row).set(row, 0, LongList.of(fromPc));
      }
    }
  }

  private int row(TreeKind kind, long selfPc, int above, long time) {
    if (tree.isFullBeside()) {
      return CallTreeLog.NONE;
    }
    int row = tree.enter(kind, selfPc, above, time);
    if (above < 0) {
      tree.setTask(row, context.task, context.instance);
    }
    return row;
  }

  @Override
  public void interruptEnded(long lasted, long time, Ending ending) {
    core.mixContext(TreeKind.INTERRUPT, at.stack().number(), ending.code(), time);
    if (ending == Ending.RETURNED) {
      core.interrupts().ended(at.stack().number(), lasted);
    }
    int row = context.losses.base();
    if (row >= 0) {
      tree.finish(row, time, ending);
      tree.setTimes(row, ending == Ending.RETURNED ? time - tree.enter(row) - lasted : 0, 0);
      context.losses.setBase(CallTreeLog.NONE);
    }
  }

  void writeTo(DataOutput out, CoreReconstructor progress) throws IOException {
    at.writeTo(out, progress);
  }

  /** Reads what {@link #writeTo} wrote; the reconstruction and the tree are complete already. */
  void readFrom(DataInput in, CoreReconstructor progress, CallProfile written) throws IOException {
    at.readFrom(in, progress, written, profile);
    takeUp();
    progress.current().ifPresent(this::resumed);
    at.rest();
  }
}
