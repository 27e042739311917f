package dev.retstack.graph.calls;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * The one shadow stack of the pipeline. It turns the records of a task, or of an interrupt on top
 * of it, into calls, and hands each beginning and end to {@link CallAccounts}.
 *
 * <pre>
 *                ENTRY d                                 EXIT d
 *   frames >= d were still known?  dead: UNWOUND   frames > d were still known?  dead: UNWOUND
 *                │                                         │
 *   frompc is a return_to_handler slot,            frame d known?
 *   and frame d-1 is known?                          ├ no, d below the known stack: UNKNOWN_EXITS
 *     ├ yes: d-1 ends TAIL_CALLED (its exit          ├ no, d beyond it: MISPLACED_EXIT
 *     │      record will come and is consumed);      └ yes ─ other selfpc: MISPLACED_EXIT, UNWOUND
 *     │      caller = d-1, parent = that of d-1            ─ already TAIL_CALLED: consumed
 *     └ no:  caller = parent = frame d-1 if open           ─ fp, frompc, retp differ: mismatch
 *                │                                         │
 *         frame d is OPEN                          frame d ends RETURNED
 *
 *   LOST, lostBefore:   pending until the next entry or exit, which shows which open calls continue
 *                       ({@link #settle}); the others end TRUNCATED
 *   chunks missing:     the keyframe of the next chunk shows it, and which calls began meanwhile
 *                       ({@link #takeOver}); without one every open call ends TRUNCATED
 *   task or core over:  every open call ends ENDED
 * </pre>
 *
 * <p>Every call ends exactly once or is open, after each record ({@link #isBalanced}):
 *
 * <p>{@code entries + adopted = returned + tailCalled + unwound + ended + truncated + open}
 *
 * <p>Nearly all records are an entry right above the topmost frame, or an exit that agrees with its
 * entry. {@link #takeOrdinary} takes them in one loop, and {@link LinkedCalls} takes linked ones in
 * runs. Any other record leaves the loop and goes through {@link #entry} or {@link #exit}.
 */
final class ShadowStack {
  /** The size of the guest's ret_stack is unknown until the next record shows its depth. */
  private static final int UNCERTAIN = -1;

  final Frames frames;
  final StackLosses losses;
  final SystemCall systemCall = new SystemCall();

  /** Which of the core's time is not this stack's. */
  final StackClock clock = new StackClock();

  /** Row of the tree for the time in which the task is switched out, or none. */
  int switchRow = CallTreeLog.NONE;

  private final ImageTraits traits;
  private final int maxDepth;
  private final CallAccounts accounts;
  private final StackAnomalies anomalies;

  private TracedTask task;
  private boolean interrupt;
  private long number;

  /** When the interrupt was entered; negative where it may be another by now. */
  private long entered;

  private long since;
  private boolean hidden;

  private final long[] endings = new long[Ending.count()];
  private long entries;
  private long adopted;
  private int open;

  /** Whether each frame of the guest's that records know of was seen, and none may be another. */
  private boolean complete;

  /** Frames in the guest's ret_stack as far as the records show, known or not. */
  private int guestSize;

  /** Frames from this depth on are not kept, for want of room, until it is reached from below. */
  private int limit;

  /**
   * What calls count by from now on: of the core's time, not the stack's own, and not in totals.
   */
  private long notRun;

  private long leftOut;

  ShadowStack(ImageTraits traits, int maxDepth, Frames.Budget budget, CallAccounts accounts) {
    this.frames = new Frames(budget);
    this.traits = traits;
    this.maxDepth = maxDepth;
    this.accounts = accounts;
    this.anomalies = new StackAnomalies(frames, accounts);
    this.losses = new StackLosses(frames, clock, accounts.tree());
  }

  /** The system call that began last on a stack; one is open at a time. */
  static final class SystemCall {
    boolean open;
    long number;
    long since;

    /** Time of the core that was not the stack's, when the system call began. */
    long notRun;

    int row;

    private void clear() {
      open = false;
      number = 0;
      since = 0;
      notRun = 0;
      row = CallTreeLog.NONE;
    }

    private void writeTo(DataOutput out) throws IOException {
      out.writeBoolean(open);
      out.writeLong(number);
      out.writeLong(since);
      out.writeLong(notRun);
      out.writeInt(row);
    }

    private void readFrom(DataInput in, int rows) throws IOException {
      open = in.readBoolean();
      number = in.readLong();
      since = in.readLong();
      notRun = in.readLong();
      row = Fields.readRow(in, rows);
    }
  }

  /**
   * Begins anew: nothing was seen of it.
   *
   * @param depth frames in the guest's ret_stack, negative where that is unknown
   */
  void begin(int depth) {
    frames.popTo(0);
    limit = maxDepth;
    guestSize = size(depth);
    complete = depth == 0;
    entries = 0;
    adopted = 0;
    open = 0;
    Arrays.fill(endings, 0);
    clock.clear();
    notRun = 0;
    leftOut = 0;
    losses.clear();
    systemCall.clear();
    switchRow = CallTreeLog.NONE;
  }

  private int size(int depth) {
    return depth < 0 || depth > maxDepth ? UNCERTAIN : depth;
  }

  /** Makes this the own stack of a task. */
  void ofTask(TracedTask owner, long now) {
    of(owner, false, 0, now, now);
  }

  /**
   * Makes this the stack of an interrupt on top of a task.
   *
   * @param begun when it was entered, negative where that is not known
   * @param now since when its time is known
   */
  void ofInterrupt(TracedTask owner, long vector, long begun, long now) {
    of(owner, true, vector, begun, now);
  }

  private void of(TracedTask owner, boolean ofInterrupt, long vector, long begun, long now) {
    task = owner;
    interrupt = ofInterrupt;
    number = vector;
    entered = begun;
    since = now;
    hidden = ofInterrupt && !accounts.rules().interrupts();
  }

  // ---- The records that nearly all are

  /**
   * Takes ordinary records from {@code first} on.
   *
   * @param time no record may be earlier
   * @return index of the first record that is another, or the number of records
   */
  int takeOrdinary(RecordBatch batch, int first, long time) {
    final byte[] kinds = batch.kind;
    final long[] times = batch.time;
    final int[] depths = batch.depth;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final int[] links = batch.links();
    final boolean linked = batch.isLinked();
    final long fpMask = traits.fpCheck() ? -1 : 0;
    final long retPMask = traits.retpCheck() ? -1 : 0;
    final int count = batch.size();
    final int roof = limit;
    long now = time;
    int next = nextDepth();
    int exits = 0;
    int i = first;
    for (; i < count; i++) {
      long at = times[i];
      int depth = depths[i];
      int kind = kinds[i];
      if (at < now || next < 0) {
        break;
      }
      if (kind == RecordBatch.ENTRY) {
        if (depth != next || depth >= roof || frames.isFull() || traits.isHandler(fromPcs[i])) {
          break;
        }
        int parent = frames.size() - 1;
        if (linked && links[i] >= 0) {
          int end = accounts.linked(this, batch, i, Math.min(roof - depth, frames.room()));
          if (end > i) {
            int opened = frames.size() - 1 - parent;
            exits += (end - i - opened) / 2;
            guestSize = opened == 0 ? guestSize : frames.depth(parent + opened) + 1;
            now = times[end - 1];
            next = guestSize;
            i = end - 1;
            continue;
          }
        }
        int slot = frames.push(depth, parent, selfPcs[i], fromPcs[i], retPs[i], fps[i]);
        guestSize = depth + 1;
        next = depth + 1;
        accounts.entered(this, slot, parent, parent, selfPcs[i], at);
      } else {
        int slot = frames.size() - 1;
        if (kind != RecordBatch.EXIT
            || depth != next - 1
            || slot < 0
            || !frames.agrees(slot, selfPcs[i], fromPcs[i], retPs[i], retPMask, fps[i], fpMask)) {
          break;
        }
        exits++;
        accounts.finished(this, slot, frames.parent(slot), at, Ending.RETURNED);
        frames.popTo(slot);
        guestSize = depth;
        next = nextDepth();
      }
      now = at;
    }
    int entered = i - first - exits;
    entries += entered;
    open += entered - exits;
    endings[Ending.RETURNED.code()] += exits;
    if (i > first) {
      limit = maxDepth;
    }
    return i;
  }

  /** Depth of the next frame where the topmost one is open and known, or none is; else below 0. */
  private int nextDepth() {
    boolean empty = guestSize == 0 && frames.size() == 0;
    return empty || frames.openDepth() == guestSize - 1 ? guestSize : UNCERTAIN;
  }

  // ---- Entry and exit, whatever they are

  void entry(long time, int depth, long selfPc, long fromPc, long retP, long fp) {
    if (leavesOutEntry(depth)) {
      return;
    }
    if (losses.isPending()) {
      settle(depth, time);
    }
    losses.alive(depth, time);
    if (frames.topDepth() >= depth) {
      unwind(depth, time, selfPc);
    }
    if (guestSize != UNCERTAIN && depth > guestSize) {
      accounts.count(Stat.STACK_JUMPS, 1);
    }
    int below = known(depth - 1);
    if (below >= 0 && traits.isHandler(fromPc) && !frames.hasEnded(below)) {
      accounts.count(Stat.TAIL_CALLS, 1);
      frames.setEnded(below);
      close(below, time, Ending.TAIL_CALLED);
    }
    call(below, time, depth, selfPc, fromPc, retP, fp);
    guestSize = depth + 1;
    entries++;
  }

  /** Slot of the topmost frame if it has this depth and is known, or none. */
  private int known(int depth) {
    int top = frames.topAt(depth);
    return top >= 0 && frames.isUnknown(top) ? Frames.NONE : top;
  }

  /**
   * Puts a call on the stack.
   *
   * @param below slot of the frame right below it where that is known; it jumped to the call, and
   *     has ended by that, if {@code fromPc} is a slot of return_to_handler
   */
  private int call(int below, long time, int depth, long selfPc, long fromPc, long retP, long fp) {
    boolean isCaller = below >= 0 && (traits.isHandler(fromPc) || !frames.hasEnded(below));
    int caller = isCaller ? below : Frames.NONE;
    int parent = isCaller ? frames.innermost(below) : Frames.NONE;
    int slot = frames.push(depth, parent, selfPc, fromPc, retP, fp);
    open++;
    accounts.entered(this, slot, parent, caller, selfPc, time);
    return slot;
  }

  void exit(long time, int depth, long selfPc, long fromPc, long retP, long fp) {
    if (leftOutExit(depth)) {
      return;
    }
    int slot = leaving(time, depth, selfPc);
    if (slot < 0) {
      exitOfUnknown(time, depth, selfPc, fromPc);
      return;
    }
    guestSize = depth;
    if (frames.selfPc(slot) != selfPc) {
      anomalies.misplaced(time, selfPc, frames.selfPc(slot), fromPc);
      if (!frames.hasEnded(slot)) {
        accounts.unwound(frames.selfPc(slot), time, 1);
        close(slot, time, Ending.UNWOUND);
      }
      accounts.next(); // what it returned is not the result of that call
    } else if (!frames.hasEnded(slot)) {
      anomalies.check(traits, slot, time, fromPc, retP, fp);
      close(slot, time, Ending.RETURNED);
    }
    frames.popTo(slot);
  }

  /** The function of this frame returned to an address that had overwritten the one expected. */
  void smashed(long time, int depth, long selfPc, long to, long retP, long expected) {
    if (leftOutExit(depth)) {
      return;
    }
    int slot = leaving(time, depth, selfPc);
    anomalies.smashed(time, selfPc, expected, to, retP);
    guestSize = depth;
    losses.alive(depth, time);
    if (slot >= 0) {
      closeFrom(slot, time, Ending.UNWOUND);
      frames.popTo(slot);
    }
  }

  /** The slot of the frame that leaves, or none. */
  private int leaving(long time, int depth, long selfPc) {
    if (losses.isPending()) {
      settle(depth + 1, time);
    }
    losses.alive(depth + 1, time);
    if (frames.topDepth() > depth) {
      unwind(depth + 1, time, selfPc);
    }
    int slot = frames.topAt(depth);
    if (slot >= 0 && frames.isUnknown(slot)) {
      bound(slot, time);
      frames.popTo(slot);
      slot = Frames.NONE;
    }
    return slot;
  }

  private void exitOfUnknown(long time, int depth, long selfPc, long fromPc) {
    accounts.next(); // nor of one that was found dead by it
    if (guestSize != UNCERTAIN && depth >= guestSize) {
      anomalies.misplaced(time, selfPc, 0, fromPc);
    } else {
      accounts.count(Stat.UNKNOWN_EXITS, 1);
      guestSize = depth;
      losses.alive(depth, time);
    }
  }

  /** Frames at this depth and above are gone, says the record of {@code selfPc}. */
  private void unwind(int depth, long time, long selfPc) {
    int from = frames.size();
    int dead = 0;
    int missed = 0;
    while (from > 0 && frames.depth(from - 1) >= depth) {
      from--;
      if (!frames.hasEnded(from)) {
        dead++;
        missed += traits.missesExits(frames.selfPc(from)) ? 1 : 0;
      } else if (frames.isUnknown(from)) {
        bound(from, time);
      }
    }
    if (dead > 0) {
      anomalies.unwound(from, time, selfPc, dead, missed);
      closeFrom(from, time, Ending.UNWOUND);
    }
    frames.popTo(from);
    guestSize = depth;
  }

  private void closeFrom(int from, long time, Ending ending) {
    for (int slot = frames.size() - 1; slot >= from; slot--) {
      if (!frames.hasEnded(slot)) {
        close(slot, time, ending);
      }
    }
  }

  private void close(int slot, long time, Ending ending) {
    open--;
    endings[ending.code()]++;
    accounts.finished(this, slot, frames.parent(slot), time, ending);
  }

  /** A call that a loss cut off had ended by now. */
  private void bound(int slot, long now) {
    int row = frames.row(slot);
    if (row >= 0) {
      accounts.tree().bound(row, now);
    }
  }

  // A call for which there is no room is left out with all that it calls: their time is its
  // caller's.

  private boolean leavesOutEntry(int depth) {
    if (depth < limit) {
      boolean pushes = frames.topDepth() < depth;
      limit = pushes && frames.isFull() ? depth : maxDepth;
    }
    return isBeyond(depth);
  }

  private boolean leftOutExit(int depth) {
    if (depth < limit) {
      limit = maxDepth;
    }
    return isBeyond(depth);
  }

  private boolean isBeyond(int depth) {
    if (depth < limit) {
      return false;
    }
    leaveOut();
    return true;
  }

  /** What is left out shows that all below is there, unless a loss hides what is on top. */
  private void leaveOut() {
    guestSize = losses.isTopUnknown() ? UNCERTAIN : limit;
    accounts.count(Stat.FRAMES_NOT_KEPT, 1);
    complete = false;
  }

  // ---- Loss and end

  /**
   * Records are missing here: what is open may have ended.
   *
   * @param lastSeen time of the last record before
   * @param count of the records, {@link StackLosses#UNBOUNDED} where they may be more than is known
   * @param then the stack's clock at the last record before
   */
  void lose(long lastSeen, long count, StackClock then) {
    cutSystemCall(lastSeen, Ending.TRUNCATED);
    losses.lose(lastSeen, count, then);
    guestSize = UNCERTAIN;
  }

  /** Takes all open calls as ended: nothing shows what is open behind the loss. */
  void loseAll(long now) {
    settle(0, now);
  }

  /**
   * Ends a loss behind which {@code alive} frames are alive; calls that may have ended are cut off.
   */
  private void settle(int alive, long now) {
    int base = losses.survivors(alive);
    int from = frames.size();
    while (from > 0 && frames.depth(from - 1) >= base) {
      from--;
    }
    cutOff(from, now);
    complete = false;
    for (int slot = from; slot < frames.size(); slot++) {
      frames.setUnknown(slot);
    }
    if (open > 0) {
      accounts.count(Stat.RECOVERED_CALLS, open);
    }
    losses.settle(base, from);
    countBy(clock);
  }

  private void cutOff(int from, long now) {
    int cut = 0;
    for (int slot = from; slot < frames.size(); slot++) {
      cut += frames.hasEnded(slot) ? 0 : 1;
    }
    countBy(losses.before()); // what was open then did not run any longer
    if (cut > 0) {
      anomalies.truncated(now, cut);
      closeFrom(from, losses.since(), Ending.TRUNCATED);
    }
  }

  /** An interrupt is over: calls that are open in it ended without returning. */
  void leave(long time) {
    if (!losses.isPending() && open > 0) {
      unwind(0, time, 0);
    }
    end(time);
  }

  /** The core or the task ended. */
  void end(long time) {
    cutSystemCall(time, Ending.ENDED);
    if (losses.isPending()) {
      settle(0, time);
    }
    losses.alive(0, time);
    for (int slot = frames.size() - 1; slot >= 0; slot--) {
      if (frames.isUnknown(slot)) {
        bound(slot, time);
      }
    }
    if (open > 0) {
      accounts.count(Stat.ENDED_CALLS, open);
      closeFrom(0, time, Ending.ENDED);
    }
    frames.popTo(0);
    guestSize = 0;
  }

  // ---- The core's own stack, where a chunk begins

  /**
   * Compares the open calls with the keyframe of a chunk that begins.
   *
   * @param head of the stack in the keyframe
   */
  void prove(Keyframe keyframe, int head, long now) {
    if (!losses.isPending()) {
      isAs(keyframe, head, now);
    }
  }

  /**
   * Takes the open calls from a keyframe right behind a loss, or where the core begins.
   *
   * @param at the stack's clock now
   */
  void learn(Keyframe keyframe, int head, StackClock at, long now) {
    assert losses.isPending() || frames.size() == 0;
    if (isAs(keyframe, head, now)) {
      takeOver(keyframe, head, at, now);
    } else {
      settle(0, now); // the records are believed, and they say nothing
    }
  }

  /**
   * Adds what is known to be open to a keyframe: the topmost frames without a hole. Where a loss
   * leaves any of it in doubt, the keyframe says that the stack has unknown frames.
   *
   * @param time entered by then at the earliest
   * @param known false where all of it is in doubt
   */
  void writeKeyframe(long time, boolean known, RecordBatch into) {
    boolean sure = known && !losses.isPending() && losses.holes() == 0 && guestSize != UNCERTAIN;
    int open = sure ? frames.topDepth() + 1 : Math.max(1, frames.topDepth() + 1);
    int shown = sure ? Math.max(open, guestSize) : maxDepth + 1;
    if (interrupt) {
      into.add(RecordBatch.INTERRUPT_ENTER, Math.max(entered, time), shown, number, 0, open, 0);
    } else {
      long id = task.id();
      into.add(RecordBatch.TASK, 0, shown, id, TaskEvent.SWITCHED.code(), open, 0);
    }
    int first = frames.size();
    while (sure && first > 0 && frames.depth(first - 1) == open - 1 - (frames.size() - first)) {
      first--;
    }
    for (int slot = first; slot < frames.size(); slot++) {
      into.add(
          RecordBatch.ENTRY,
          Math.max(frames.enter(slot), time),
          frames.depth(slot),
          frames.selfPc(slot),
          frames.fromPc(slot),
          frames.retP(slot),
          frames.fp(slot));
    }
  }

  // ---- A segment: the calls of its keyframe are open where it begins, and are not counted here

  /**
   * Begins with the calls of a keyframe that has nothing but this stack.
   *
   * @return false where a limit keeps one of them out
   */
  boolean inherit(Keyframe keyframe) {
    RecordBatch core = keyframe.records();
    boolean kept = true;
    for (int i = 1; kept && i < core.size(); i++) {
      int depth = core.depth[i];
      kept = depth < maxDepth && !frames.isFull();
      if (kept) {
        int slot =
            frames.push(depth, depth - 1, core.selfPc[i], core.fromPc[i], core.retP[i], core.fp[i]);
        kept = accounts.inherited(this, slot, core.selfPc[i], core.time[i]);
        open++;
        adopted++; // taken away when it is joined
      }
    }
    guestSize = size(keyframe.open(0));
    return kept;
  }

  /** Whether nothing of it was lost, left out or is not its own time. */
  boolean isPlain() {
    return complete
        && limit == maxDepth
        && guestSize == frames.topDepth() + 1
        && guestSize == frames.size()
        && !losses.isPending()
        && losses.holes() == 0
        && !systemCall.open
        && notRun == 0
        && leftOut == 0
        && clock.ran(0) == 0;
  }

  /** Whether its calls are those that a segment began with, and it has room for those behind. */
  boolean fits(ShadowStack segment, Keyframe keyframe) {
    RecordBatch core = keyframe.records();
    boolean same = frames.size() == core.size() - 1;
    for (int slot = 0; same && slot < frames.size(); slot++) {
      int i = slot + 1;
      same =
          !frames.hasEnded(slot)
              && frames.parent(slot) == slot - 1
              && frames.level(slot) == slot
              && frames.arc(slot) >= 0
              && frames.callerPc(slot) == (slot == 0 ? 0 : frames.selfPc(slot - 1))
              && frames.enter(slot) == core.time[i]
              && frames.ran(slot) == core.time[i]
              && frames.leftOut(slot) == 0
              && frames.agrees(
                  slot, core.selfPc[i], core.fromPc[i], core.retP[i], -1, core.fp[i], -1);
    }
    return same && segment.frames.size() - frames.size() <= frames.room();
  }

  /** The time that calls took before the segment counts as their own no more. */
  void join(ShadowStack segment, CallProfile theirs, CallProfile profile) {
    CallTreeLog ends = segment.accounts.tree();
    for (int slot = 0; slot < ends.size(); slot++) {
      Ending ending = ends.ending(slot);
      if (ending == Ending.OPEN) {
        continue;
      }
      if (ending.finished()) {
        profile.arcs().takeSelf(frames.arc(slot), frames.children(slot));
      }
      int row = frames.row(slot);
      if (row >= 0) {
        accounts.tree().finish(row, ends.exit(slot), ending);
        accounts.tree().setTimes(row, ends.notRun(slot), ends.leftOut(slot));
      }
    }
    frames.join(segment.frames, theirs, profile);
    open = segment.open;
    entries += segment.entries;
    adopted += segment.adopted - ends.size();
    for (int i = 0; i < endings.length; i++) {
      endings[i] += segment.endings[i];
    }
    guestSize = segment.guestSize;
  }

  /** Whether all frames of the guest's are known. */
  boolean isComplete() {
    return complete;
  }

  /** Whether both stacks agree, as far as this one is known; where not, that is an anomaly. */
  private boolean isAs(Keyframe keyframe, int head, long now) {
    final RecordBatch core = keyframe.records();
    final int open = keyframe.open(head);
    final boolean pending = losses.isPending();
    boolean isOld = true; // behind a loss: whether the calls below are those from before it
    int depth = keyframe.leftOut(head);
    int slot = 0;
    while (slot < frames.size() && frames.depth(slot) < depth) {
      slot++;
    }
    for (int i = head + 1; depth < open; depth++, i++) {
      boolean isHere = slot < frames.size() && frames.depth(slot) == depth;
      // a loss may have ended calls and begun others, but none that was entered before it
      isOld &= !pending || core.time[i] < losses.since();
      if (isOld && isHere && !frames.isUnknown(slot) && !isSame(slot, core, i, now)) {
        return false;
      }
      if (isOld && !isHere && complete && depth < limit) {
        differs(Anomaly.Variant.PLAIN, now, 0, core.selfPc[i], 0, depth);
        return false;
      }
      slot += isHere ? 1 : 0;
    }
    for (; !pending && slot < frames.size(); slot++) {
      if (frames.depth(slot) >= keyframe.shown(head) && !frames.isUnknown(slot)) {
        long selfPc = frames.selfPc(slot);
        differs(Anomaly.Variant.PLAIN, now, selfPc, 0, selfPc, frames.depth(slot));
        return false;
      }
    }
    return true;
  }

  /**
   * Behind a loss. Calls that are open in both stacks continue. Those that are open only here ended
   * in the loss. Those that are open only in the core began in it, and are adopted: what they ran
   * before now is not known. A call from before the loss that was not known stays so: calls of the
   * same function in it may count already.
   */
  private void takeOver(Keyframe keyframe, int head, StackClock at, long now) {
    final RecordBatch core = keyframe.records();
    final int end = keyframe.open(head);
    int kept = kept(keyframe, head);
    int depth = kept == 0 ? keyframe.leftOut(head) : frames.depth(kept - 1) + 1;
    int next = head + 1 + depth - keyframe.leftOut(head);
    boolean isKnown = depth == end || core.time[next] >= losses.since();
    final boolean gaveWay =
        kept > 0 && !frames.hasEnded(kept - 1) && hasJumped(keyframe, depth, next, end);
    if (gaveWay && !isKnown) {
      kept--;
    }
    cutOff(kept, now);
    for (int slot = kept; slot < frames.size(); slot++) {
      boolean givenUp = frames.depth(slot) >= end && frames.depth(slot) < keyframe.shown(head);
      if (!givenUp) { // else the next record would have shown it
        bound(slot, now);
      }
    }
    frames.popTo(kept);
    if (isKnown) {
      long until = depth < end ? entered(core, next, now) : now;
      losses.over(kept, at.ran(now), until, gaveWay);
    } else {
      losses.settle(depth, kept);
    }
    countBy(at);
    if (gaveWay && isKnown) {
      long time = Math.max(entered(core, next, now), losses.since());
      StackClock then = losses.before();
      long out = accounts.rules().leftOut(then.away, then.interrupts, then.unsure);
      out += accounts.rules().leftOut(0, 0, time - losses.since());
      jumped(kept - 1, time, then.ran(losses.since()), out);
    }
    if (open > 0) {
      accounts.count(Stat.RECOVERED_CALLS, open);
    }
    limit = maxDepth;
    guestSize = size(keyframe.shown(head));
    for (; depth < end; depth++, next++) {
      if (core.time[next] < losses.since()) {
        continue;
      }
      if (depth >= maxDepth || frames.isFull()) {
        limit = Math.min(depth, maxDepth);
        leaveOut();
        break;
      }
      adopt(depth, core, next, now);
      if (hasJumped(keyframe, depth + 1, next + 1, end)) {
        int slot = frames.size() - 1;
        long time = entered(core, next + 1, now);
        long out = accounts.rules().leftOut(0, 0, time - frames.enter(slot));
        out += frames.leftOut(slot);
        jumped(slot, time, frames.ran(slot), out);
      }
    }
    accounts.next();
    complete = frames.size() == end && losses.holes() == 0 && frames.allKnown();
    countBy(clock);
  }

  /** Whether the function of the frame below this depth jumped to that of the one there. */
  private boolean hasJumped(Keyframe keyframe, int depth, int record, int end) {
    return depth < end && traits.isHandler(keyframe.records().fromPc[record]);
  }

  /** No call was entered later than now. */
  private static long entered(RecordBatch core, int i, long now) {
    return Math.min(core.time[i], now);
  }

  /** A call that began in a loss is open: until now it may have run, or not. */
  private void adopt(int depth, RecordBatch core, int i, long now) {
    final long time = entered(core, i, now);
    int slot =
        call(
            known(depth - 1),
            time,
            depth,
            core.selfPc[i],
            core.fromPc[i],
            core.retP[i],
            core.fp[i]);
    frames.beganBy(slot, now - notRun, leftOut - accounts.rules().leftOut(0, 0, now - time));
    adopted++;
    accounts.count(Stat.ADOPTED_CALLS, 1);
  }

  /**
   * In the loss the function of this frame jumped: when is known, not what it ran before.
   *
   * @param ran the stack's own time by then, at least
   * @param out what was left out of totals by then, at most
   */
  private void jumped(int slot, long time, long ran, long out) {
    accounts.count(Stat.TAIL_CALLS, 1);
    frames.setEnded(slot);
    final long notRunNow = notRun;
    final long leftOutNow = leftOut;
    notRun = time - ran;
    leftOut = out;
    close(slot, time, Ending.TAIL_CALLED);
    notRun = notRunNow;
    leftOut = leftOutNow;
  }

  /** Slots from the bottom whose frames the core has as well. */
  private int kept(Keyframe keyframe, int head) {
    final RecordBatch core = keyframe.records();
    for (int slot = frames.size() - 1; slot >= 0; slot--) {
      int depth = frames.depth(slot);
      int i = head + 1 + depth - keyframe.leftOut(head);
      boolean isTold = depth >= keyframe.leftOut(head) && depth < keyframe.open(head);
      if (isTold
          && frames.enter(slot) == core.time[i]
          && frames.agrees(
              slot, core.selfPc[i], core.fromPc[i], core.retP[i], -1, core.fp[i], -1)) {
        return slot + 1;
      }
    }
    return 0;
  }

  private boolean isSame(int slot, RecordBatch core, int i, long time) {
    long selfPc = frames.selfPc(slot);
    int depth = frames.depth(slot);
    return isSame(Anomaly.Variant.PLAIN, core.selfPc[i], selfPc, selfPc, depth, time)
        && isSame(Anomaly.Variant.FROM_PC, core.fromPc[i], frames.fromPc(slot), selfPc, depth, time)
        && isSame(Anomaly.Variant.SLOT, core.retP[i], frames.retP(slot), selfPc, depth, time)
        && isSame(Anomaly.Variant.FP, core.fp[i], frames.fp(slot), selfPc, depth, time)
        && isSame(Anomaly.Variant.TIME, core.time[i], frames.enter(slot), selfPc, depth, time);
  }

  private boolean isSame(
      Anomaly.Variant what, long expected, long received, long selfPc, int depth, long time) {
    if (expected != received) {
      differs(what, time, selfPc, expected, received, depth);
    }
    return expected == received;
  }

  private void differs(
      Anomaly.Variant what, long time, long selfPc, long expected, long received, int depth) {
    accounts.differs(
        task,
        new Anomaly(
            AnomalyKind.KEYFRAME_MISMATCH,
            what,
            time,
            selfPc,
            expected,
            received,
            depth,
            1,
            LongImmutableList.of(frames.open(Anomaly.MAX_STACK))));
  }

  // ---- Events inside calls that have no separate frame

  /**
   * A function was called whose return is not seen. Depth > 0: ret_stack was full. A hijacked
   * return address as fromPc: the innermost hijacked call jumped here.
   */
  void called(long time, int depth, long selfPc, long fromPc) {
    if (depth > 0) {
      anomalies.overrun(time, selfPc);
    }
    boolean jumped = traits.isHandler(fromPc) && !losses.isTopUnknown();
    int caller = jumped ? frames.size() - 1 : Frames.NONE;
    accounts.called(this, innermost(), caller, selfPc, fromPc, time);
  }

  void systemCall(long time, long called) {
    cutSystemCall(time, Ending.UNWOUND);
    systemCall.open = true;
    accounts.systemCall(this, innermost(), called, time);
  }

  void systemCallEnded(long time, long ended, long result) {
    if (systemCall.open && systemCall.number == ended) {
      systemCall.open = false;
      accounts.systemCallEnded(this, result, time, Ending.RETURNED);
    } else {
      accounts.count(Stat.UNKNOWN_EXITS, 1);
    }
  }

  private void cutSystemCall(long time, Ending ending) {
    if (systemCall.open) {
      systemCall.open = false;
      accounts.systemCallEnded(this, 0, time, ending);
    }
  }

  void mark(long time, long what, long selfPc, long command) {
    LongImmutableList calls = LongImmutableList.of(knownCalls());
    accounts.mark(this, innermost(), what, selfPc, command, time, calls);
  }

  /** The innermost open calls, none where records are missing since they were seen. */
  long[] knownCalls() {
    return losses.isPending() ? new long[0] : frames.open(Anomaly.MAX_STACK);
  }

  /** Slot of the innermost open call, or none where that is unknown. */
  int innermost() {
    return losses.isTopUnknown() ? Frames.NONE : frames.innermost(frames.size() - 1);
  }

  // ---- Time

  /** Calls that begin and end from now on count by this clock. */
  void countBy(StackClock at) {
    notRun = at.away + at.interrupts + at.unsure;
    leftOut = accounts.rules().leftOut(at.away, at.interrupts, at.unsure);
  }

  /** Time of the core so far that was not the stack's. */
  long notRun() {
    return notRun;
  }

  /** Time of the core so far that is not in totals. */
  long leftOut() {
    return leftOut;
  }

  /** How long the call of a slot that ends now ran, with the calls below it. */
  long ran(int slot, long now) {
    return now - notRun - frames.ran(slot);
  }

  /** How long a call that ends now took, as totals count it. */
  long took(int slot, long now) {
    return now - frames.enter(slot) - (leftOut - frames.leftOut(slot));
  }

  /** The stack's own time from its beginning to this time of the core: it runs now. */
  long ran(long now) {
    return clock.ran(now) - since;
  }

  /**
   * Replaces the row numbers of the stack, because the call tree has new ones.
   *
   * @param ofWaiting numbers of rows of which it is not known yet in which call they stand
   */
  void renumber(IntUnaryOperator numbers, IntUnaryOperator ofWaiting) {
    frames.renumber(numbers);
    losses.renumber(numbers, ofWaiting);
    systemCall.row = numbers.applyAsInt(systemCall.row);
    switchRow = numbers.applyAsInt(switchRow);
  }

  /** Adds its open calls by their rows, as they stand now. */
  void addOpenRows(long now, TimeRules rules, Int2ObjectMap<CoreGraph.OpenRow> rows) {
    StackClock at = new StackClock();
    task.clockAt(task.stacks.indexOf(this), now, at);
    long elsewhere = now - at.ran(now);
    long notCounted = rules.leftOut(at.away, at.interrupts, at.unsure);
    long lostSince = losses.isPending() ? losses.since() : -1;
    for (int slot = 0; slot < frames.size(); slot++) {
      if (!frames.hasEnded(slot) && frames.row(slot) >= 0) {
        long away = elsewhere - (frames.enter(slot) - frames.ran(slot));
        rows.put(
            frames.row(slot),
            new CoreGraph.OpenRow(lostSince, away, notCounted - frames.leftOut(slot)));
      }
    }
  }

  /**
   * Puts its open calls into a pyramid, as if they ended now, or at a loss that may have ended
   * them.
   */
  void placeOpen(long now, Pyramid into) {
    long end = losses.isPending() ? losses.since() : now;
    into.turnTo(task.id(), task.instance(), interrupts());
    for (int slot = 0; !isHidden() && slot < frames.size(); slot++) {
      if (!frames.hasEnded(slot)) {
        into.call(frames.depth(slot), frames.selfPc(slot), frames.enter(slot), end);
      }
    }
  }

  // ---- Whose it is

  /** The task that runs on it, or below it. */
  TracedTask task() {
    return task;
  }

  /** How many interrupts are open on the task, up to this one. */
  int interrupts() {
    return interrupt ? Math.max(1, task.stacks.indexOf(this)) : 0;
  }

  /** Whether it is an interrupt's. */
  boolean isInterrupt() {
    return interrupt;
  }

  /** Number of the interrupt, as the architecture numbers it. */
  long number() {
    return number;
  }

  /** Whether it is known when the interrupt was entered. */
  boolean isKnown() {
    return entered >= 0;
  }

  /** When the interrupt was entered, negative where that is not known. */
  long entered() {
    return entered;
  }

  /** The interrupt may have ended, and another begun. */
  void forget() {
    entered = -1;
  }

  /** Since when it is known. */
  long since() {
    return since;
  }

  /** Whether what happens on it is not shown. */
  boolean isHidden() {
    return hidden;
  }

  // ---- The accounting identity

  long entries() {
    return entries;
  }

  /** Calls that began in a loss and are known from a keyframe. */
  long adopted() {
    return adopted;
  }

  /** Calls known to be open: none while records are missing since the last entry or exit. */
  int open() {
    return losses.isPending() ? 0 : open;
  }

  long ended(Ending ending) {
    boolean doubtful = ending == Ending.TRUNCATED && losses.isPending();
    return endings[ending.code()] + (doubtful ? open : 0);
  }

  boolean isBalanced() {
    long sum = open;
    for (long n : endings) {
      sum += n;
    }
    return sum == entries + adopted;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(number);
    out.writeLong(entered);
    out.writeLong(since);
    frames.writeTo(out);
    out.writeInt(limit);
    out.writeInt(guestSize);
    out.writeBoolean(complete);
    out.writeLong(entries);
    out.writeLong(adopted);
    for (long n : endings) {
      out.writeLong(n);
    }
    clock.writeTo(out);
    out.writeLong(notRun);
    out.writeLong(leftOut);
    losses.writeTo(out);
    systemCall.writeTo(out);
    out.writeInt(switchRow);
  }

  /**
   * Reads what {@link #writeTo} wrote into this empty stack; the tree is complete already.
   *
   * @param written the profile by whose arcs it was written
   * @param profile the profile of this core
   */
  void readFrom(
      DataInput in, TracedTask owner, boolean ofInterrupt, CallProfile written, CallProfile profile)
      throws IOException {
    of(owner, ofInterrupt, in.readLong(), in.readLong(), in.readLong());
    if (since < 0) {
      throw new IOException("corrupt snapshot: a stack since " + since);
    }
    int rows = accounts.tree().size();
    frames.readFrom(in, maxDepth, rows, written, profile);
    limit = in.readInt();
    if (limit <= frames.topDepth() || limit > maxDepth) {
      throw new IOException("corrupt snapshot: no frames from depth " + limit + " on");
    }
    guestSize = in.readInt();
    if (guestSize < UNCERTAIN || guestSize > maxDepth) {
      throw new IOException("corrupt snapshot: ret_stack of " + guestSize + " frames");
    }
    complete = in.readBoolean();
    entries = in.readLong();
    adopted = in.readLong();
    for (int i = 0; i < endings.length; i++) {
      endings[i] = in.readLong();
    }
    clock.readFrom(in);
    notRun = in.readLong();
    leftOut = in.readLong();
    losses.readFrom(in);
    systemCall.readFrom(in, rows);
    switchRow = Fields.readRow(in, rows);
    for (int slot = 0; slot < frames.size(); slot++) {
      open += frames.hasEnded(slot) ? 0 : 1;
    }
    if (!isBalanced()) {
      throw new IOException("corrupt snapshot: entries and endings of calls do not add up");
    }
  }
}
