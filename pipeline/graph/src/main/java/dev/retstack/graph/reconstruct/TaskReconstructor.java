package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Stat;
import dev.retstack.schema.codec.RecordBatch;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Turns the hijack records of one task into calls: who entered, who ended and how. README.md draws
 * the state machine. Every entry ends exactly once or is open:
 *
 * <p>{@code entries = returned + tailCalled + unwound + ended + truncated + open}
 */
final class TaskReconstructor {
  /** The size of the guest's ret_stack is unknown until the next record tells its depth. */
  static final int UNCERTAIN = -1;

  private final TaskStack stack;
  private final ImageTraits traits;
  private final int maxDepth;
  private final GraphListener listener;
  private final TaskAnomalies anomalies;
  private final OrdinaryRecords ordinary;
  private final long[] endings = new long[Ending.count()];
  private long entries;
  private int open;

  /** Frames in the guest's ret_stack as far as the records tell, known or not. */
  private int guestSize;

  private final StackClock clock = new StackClock();
  private final TaskLosses losses;
  private final TaskEvents events;
  private final FrameRoom room;

  TaskReconstructor(ImageTraits traits, int maxDepth, FrameBudget budget, GraphListener listener) {
    this.stack = new TaskStack(budget);
    this.traits = traits;
    this.maxDepth = maxDepth;
    this.listener = listener;
    this.room = new FrameRoom(stack, maxDepth, listener);
    this.ordinary = new OrdinaryRecords(stack, traits, room, listener);
    this.anomalies = new TaskAnomalies(stack, listener);
    this.losses = new TaskLosses(stack, clock, listener);
    this.events = new TaskEvents(stack, losses, traits, listener);
  }

  /**
   * Begins another stack of which nothing was seen.
   *
   * @param frames in the guest's ret_stack, negative where that is unknown
   */
  void begin(int frames) {
    stack.popTo(0);
    room.lift();
    guestSize = frames < 0 || frames >= maxDepth ? UNCERTAIN : frames;
    entries = 0;
    open = 0;
    Arrays.fill(endings, 0);
    clock.clear();
    losses.clear();
    events.clear();
  }

  /** Which of the core's time is not this stack's. */
  StackClock clock() {
    return clock;
  }

  /**
   * Takes the {@linkplain OrdinaryRecords ordinary records} from {@code first} on.
   *
   * @param time no record may be earlier
   * @return index of the first record that is another, or the number of records
   */
  int ordinary(RecordBatch batch, int first, long time) {
    int end = ordinary.take(batch, first, time, guestSize);
    guestSize = ordinary.guestSize();
    int returned = ordinary.returned();
    int entered = end - first - returned;
    entries += entered;
    open += entered - returned;
    endings[Ending.RETURNED.code()] += returned;
    if (end > first) {
      room.lift();
    }
    return end;
  }

  void entry(long time, int depth, long selfPc, long fromPc, long retP, long fp) {
    if (room.leavesOutEntry(depth)) {
      guestSize = room.limit();
      return;
    }
    if (losses.isPending()) {
      settle(depth, time);
    }
    losses.alive(depth, time);
    if (stack.topDepth() >= depth) {
      unwind(depth, time, selfPc);
    }
    if (guestSize != UNCERTAIN && depth > guestSize) {
      listener.count(Stat.STACK_JUMPS, 1);
    }
    int below = stack.topAt(depth - 1);
    int caller = GraphListener.NONE;
    int parent = GraphListener.NONE;
    if (below >= 0 && !stack.isUnknown(below)) {
      if (traits.isHandler(fromPc)) {
        caller = below;
        parent = stack.parent(below);
        tailCall(below, time, selfPc);
      } else if (!stack.tailCalled(below)) {
        caller = below;
        parent = below;
      }
    }
    int slot = stack.push(depth, parent, selfPc, fromPc, retP, fp);
    guestSize = depth + 1;
    entries++;
    open++;
    listener.entered(slot, parent, caller, selfPc, time);
  }

  /** The slot of the frame that leaves, or none. */
  private int leaving(long time, int depth, long selfPc) {
    if (losses.isPending()) {
      settle(depth + 1, time);
    }
    losses.alive(depth + 1, time);
    if (stack.topDepth() > depth) {
      unwind(depth + 1, time, selfPc);
    }
    int slot = stack.topAt(depth);
    if (slot >= 0 && stack.isUnknown(slot)) {
      listener.bounded(slot, time);
      stack.popTo(slot);
      slot = GraphListener.NONE;
    }
    return slot;
  }

  /** The function of this frame returned to an address that had overwritten the one expected. */
  void smashed(long time, int depth, long selfPc, long to, long retP, long expected) {
    if (room.leftOut(depth)) {
      guestSize = room.limit();
      return;
    }
    int slot = leaving(time, depth, selfPc);
    anomalies.smashed(time, selfPc, expected, to, retP);
    guestSize = depth;
    losses.alive(depth, time);
    if (slot >= 0) {
      closeFrom(slot, time, Ending.UNWOUND);
      stack.popTo(slot);
    }
  }

  void exit(long time, int depth, long selfPc, long fromPc, long retP, long fp) {
    if (room.leftOut(depth)) {
      guestSize = room.limit();
      return;
    }
    int slot = leaving(time, depth, selfPc);
    if (slot < 0) {
      exitOfUnknown(time, depth, selfPc, fromPc);
      return;
    }
    guestSize = depth;
    if (stack.selfPc(slot) != selfPc) {
      anomalies.misplaced(time, selfPc, stack.selfPc(slot), fromPc);
      if (!stack.tailCalled(slot)) {
        anomalies.unwound(slot, slot, time, selfPc, 1, 0);
        close(slot, time, Ending.UNWOUND);
      }
      listener.next(); // what it returned is not the result of that call
    } else if (!stack.tailCalled(slot)) {
      anomalies.check(traits, slot, time, fromPc, retP, fp);
      close(slot, time, Ending.RETURNED);
    }
    stack.popTo(slot);
  }

  /** Another task goes on, on the stack of this stack pointer. */
  void switched(long time, long sp) {
    anomalies.stackSwitch(time, sp);
  }

  /** What happens inside of calls. */
  TaskEvents events() {
    return events;
  }

  /**
   * Records are missing here: what is open may have ended.
   *
   * @param since time of the last record before
   * @param now time by which the loss was over
   * @param count of the records, {@link TaskLosses#UNBOUNDED} where they may be more than is known
   * @param then the stack's clock at the last record before
   */
  void lose(long since, long now, long count, StackClock then) {
    events.cut(since, Ending.TRUNCATED);
    losses.lose(since, count, then);
    guestSize = UNCERTAIN;
    if (count
        == TaskLosses.UNBOUNDED) { // and not their sum: nobody made this stack the one at hand
      settle(0, now);
    }
  }

  /** After the loss so many frames are alive: the calls that may have ended are cut off. */
  private void settle(int alive, long now) {
    long since = losses.since();
    int base = losses.survivors(alive);
    int from = stack.size();
    int cut = 0;
    while (from > 0 && stack.depth(from - 1) >= base) {
      from--;
      cut += stack.tailCalled(from) ? 0 : 1;
    }
    tell(losses.before()); // what was open then did not run any longer
    if (cut > 0) {
      anomalies.truncated(now, cut);
      closeFrom(from, since, Ending.TRUNCATED);
    }
    for (int slot = from; slot < stack.size(); slot++) {
      stack.setUnknown(slot);
    }
    if (open > 0) {
      listener.count(Stat.RECOVERED_CALLS, open);
    }
    losses.settle(base, from);
    tell(clock);
  }

  private void tell(StackClock at) {
    listener.clock(at.away, at.interrupts, at.unsure);
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
    events.cut(time, Ending.ENDED);
    if (losses.isPending()) {
      settle(0, time);
    }
    losses.alive(0, time);
    for (int slot = stack.size() - 1; slot >= 0; slot--) {
      if (stack.isUnknown(slot)) {
        listener.bounded(slot, time);
      }
    }
    if (open > 0) {
      listener.count(Stat.ENDED_CALLS, open);
      closeFrom(0, time, Ending.ENDED);
    }
    stack.popTo(0);
    guestSize = 0;
  }

  private void tailCall(int below, long time, long selfPc) {
    if (stack.tailCalled(below)) {
      return;
    }
    anomalies.tailCall(below, time, selfPc);
    stack.setTailCalled(below);
    close(below, time, Ending.TAIL_CALLED);
  }

  private void exitOfUnknown(long time, int depth, long selfPc, long fromPc) {
    listener.next(); // nor of one that was found dead by it
    if (guestSize != UNCERTAIN && depth >= guestSize) {
      anomalies.misplaced(time, selfPc, 0, fromPc);
    } else {
      listener.count(Stat.UNKNOWN_EXITS, 1);
      guestSize = depth;
      losses.alive(depth, time);
    }
  }

  /** Frames at this depth and above are gone, says the record of {@code selfPc}. */
  private void unwind(int depth, long time, long selfPc) {
    int from = stack.size();
    int dead = 0;
    int missed = 0;
    int innermost = -1;
    while (from > 0 && stack.depth(from - 1) >= depth) {
      from--;
      if (!stack.tailCalled(from)) {
        dead++;
        missed += traits.missesExits(stack.selfPc(from)) ? 1 : 0;
        innermost = Math.max(innermost, from);
      } else if (stack.isUnknown(from)) {
        listener.bounded(from, time);
      }
    }
    if (dead > 0) {
      anomalies.unwound(from, innermost, time, selfPc, dead, missed);
      closeFrom(from, time, Ending.UNWOUND);
    }
    stack.popTo(from);
    guestSize = depth;
  }

  private void closeFrom(int from, long time, Ending ending) {
    for (int slot = stack.size() - 1; slot >= from; slot--) {
      if (!stack.tailCalled(slot)) {
        close(slot, time, ending);
      }
    }
  }

  private void close(int slot, long time, Ending ending) {
    open--;
    endings[ending.code()]++;
    listener.finished(slot, stack.parent(slot), time, ending);
  }

  long entries() {
    return entries;
  }

  /** Calls known to be open: none while records are missing since the last entry or exit. */
  int open() {
    return losses.isPending() ? 0 : open;
  }

  /** Time of the last record before a loss behind which no entry or exit came, else negative. */
  long lostSince() {
    return losses.isPending() ? losses.since() : -1;
  }

  int holes() {
    return losses.holes();
  }

  long ended(Ending ending) {
    boolean doubtful = ending == Ending.TRUNCATED && losses.isPending();
    return endings[ending.code()] + (doubtful ? open : 0);
  }

  /** The accounting identity. */
  boolean balanced() {
    long sum = open;
    for (long n : endings) {
      sum += n;
    }
    return sum == entries;
  }

  TaskStack stack() {
    return stack;
  }

  void writeTo(DataOutput out) throws IOException {
    stack.writeTo(out);
    room.writeTo(out);
    out.writeInt(guestSize);
    out.writeLong(entries);
    for (long n : endings) {
      out.writeLong(n);
    }
    clock.writeTo(out);
    losses.writeTo(out);
    events.writeTo(out);
  }

  void readFrom(DataInput in) throws IOException {
    stack.readFrom(in, maxDepth);
    room.readFrom(in);
    guestSize = in.readInt();
    if (guestSize < UNCERTAIN || guestSize > maxDepth) {
      throw new IOException("corrupt snapshot: ret_stack of " + guestSize + " frames");
    }
    entries = in.readLong();
    for (int i = 0; i < endings.length; i++) {
      endings[i] = in.readLong();
    }
    clock.readFrom(in);
    losses.readFrom(in);
    events.readFrom(in);
    for (int i = 0; i < stack.size(); i++) {
      open += stack.tailCalled(i) ? 0 : 1;
    }
    if (!balanced()) {
      throw new IOException("corrupt snapshot: entries and endings of calls do not add up");
    }
  }
}
