package dev.retstack.graph.calls;

import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.tree.Ending;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A guest thread of execution on a core, with its ret_stacks: its own and those of interrupts. */
public final class TracedTask {
  private final long id;
  private final int instance;

  /** The task's stack, then those of its open interrupts, the outermost first; empty at the end. */
  final List<ShadowStack> stacks = new ArrayList<>(2);

  private final CallCounts counts = new CallCounts();
  private final StackClock clock = new StackClock();
  private long switches;
  private long since;

  /** When it was switched out, negative while it runs. */
  private long out = -1;

  /** Time of the last record before the first loss since it was switched out, else negative. */
  private long cut = -1;

  private long over = -1;

  /** Time of the core before which it cannot have run. */
  private final long born;

  private long records;

  /** Interrupts on top that are not kept: records in them are left out. */
  int skipped;

  private long skippedSince;

  /**
   * @param born time of the core before which it cannot have run
   */
  TracedTask(long id, int instance, long born, long now) {
    this.id = id;
    this.instance = instance;
    this.born = born;
    this.since = now;
  }

  /** As its TASK records say, unsigned; 0 for the core's first. */
  public long id() {
    return id;
  }

  /** Which of the tasks that had this id one after the other, from 1. */
  public int instance() {
    return instance;
  }

  /** Times that the core came back to it. */
  public long switches() {
    return switches;
  }

  /** Whether it ended, or another began under its id, or its core ended. */
  public boolean isOver() {
    return over >= 0;
  }

  /** Time of the core before which it cannot have run, which may be before it was seen. */
  public long born() {
    return born;
  }

  /** Records taken while it ran, those in interrupts on top of it included. */
  public long records() {
    return records;
  }

  void records(long more) {
    records += more;
  }

  /** Whether some of the records that are missing there may be of it; so too at the same time. */
  public boolean mayMiss(Loss loss) {
    return loss.until() >= born && (over < 0 || loss.after() <= over);
  }

  ShadowStack own() {
    return stacks.get(0);
  }

  ShadowStack top() {
    return stacks.get(stacks.size() - 1);
  }

  /** Calls of the task seen to begin, without those in interrupts. */
  public long entries() {
    return isOver() ? counts.entries() : own().entries();
  }

  /** Calls of the task that began in a loss and are known from a keyframe. */
  public long adopted() {
    return isOver() ? counts.adopted() : own().adopted();
  }

  /** Calls of the task that have not ended. */
  public int open() {
    return isOver() ? 0 : own().open();
  }

  /** Calls of the task that ended this way. */
  public long ended(Ending ending) {
    return isOver() ? counts.ended(ending) : own().ended(ending);
  }

  /** Time for which it certainly ran, interrupts left out. */
  public long ran(long now) {
    if (isOver()) {
      return clock.ran(over) - since;
    }
    StackClock at = new StackClock();
    clockAt(0, now, at);
    return at.ran(now) - since;
  }

  /** What the clock of a stack is at a time since which nothing was switched. */
  void clockAt(int level, long time, StackClock into) {
    if (level == stacks.size() - 1) {
      into.set(stacks.get(level).clock);
      into.away += out < 0 ? 0 : time - out;
      return;
    }
    StackClock above = new StackClock();
    clockAt(level + 1, time, above);
    into.set(stacks.get(level).clock);
    // a core that begins in an interrupt had none before, when its clock stood at 0
    into.add(above, Math.max(0, time - stacks.get(level + 1).since()));
  }

  /** Nothing was seen of it before this time, nor of an interrupt. */
  void startAt(long time) {
    since = time;
    own().ofTask(this, time);
    own().clock.clear();
  }

  /** Interrupts that are open on it, kept or not. */
  int nested() {
    return stacks.size() - 1 + skipped;
  }

  /** An interrupt begins that is not kept. */
  void skip(long now) {
    skippedSince = skipped == 0 ? now : skippedSince;
    skipped++;
  }

  /** Ends an interrupt that was not kept. */
  void skipped(long now) {
    skipped(skipped - 1, now);
  }

  /** Sets the number of open interrupts that are not kept. */
  void skipped(int left, long now) {
    if (skipped > 0 && left == 0 && out < 0) {
      unsure(skippedSince, now);
    }
    skipped = left;
  }

  /** What ran from then to now is not known; nor what ran since an interrupt is not kept. */
  void unsure(long from, long now) {
    long since = Math.max(skipped > 0 ? skippedSince : from, top().since());
    top().clock.unsure += Math.max(0, now - since);
    skippedSince = now;
  }

  /** Continues the task now; its clock {@linkplain #wake is up to date}. */
  void in(long now) {
    switches += out < 0 ? 0 : 1;
    out = -1;
    cut = -1;
    skippedSince = now;
  }

  /** Brings the clock up to date. */
  void wake(long now) {
    if (out >= 0) {
      top().clock.away += now - out;
      out = now;
    }
  }

  /** Records were lost while it was switched out, since its clock was brought up to date. */
  void mayHaveRun(long now) {
    top().clock.unsure += now - out;
    out = now;
  }

  boolean isOut() {
    return out >= 0;
  }

  /** Since when it is switched out, as far as its clock says. */
  long out() {
    return out;
  }

  /** Switches the task out now. */
  void out(long now) {
    if (skipped > 0) {
      unsure(skippedSince, now);
    }
    out = now;
  }

  void cutAt(long lastSeen) {
    cut = cut < 0 ? lastSeen : cut;
  }

  /** Time of the last record before the first loss since it was switched out, else negative. */
  long cut() {
    return cut;
  }

  /** Keeps what its own stack counted, which is left to others. */
  void end(long now) {
    counts.add(own());
    clock.set(own().clock);
    over = now;
    stacks.clear();
  }

  CallCounts counts() {
    return counts;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(switches);
    out.writeLong(records);
    out.writeLong(since);
    out.writeLong(this.out);
    out.writeLong(cut);
    out.writeLong(over);
    out.writeInt(skipped);
    out.writeLong(skippedSince);
    clock.writeTo(out);
    counts.writeTo(out);
  }

  void readFrom(DataInput in) throws IOException {
    switches = in.readLong();
    records = in.readLong();
    since = in.readLong();
    out = in.readLong();
    cut = in.readLong();
    over = in.readLong();
    skipped = in.readInt();
    skippedSince = in.readLong();
    if (switches < 0 || records < 0 || since < 0 || skipped < 0) {
      throw new IOException("corrupt snapshot: a negative count of a task");
    }
    clock.readFrom(in);
    counts.readFrom(in);
  }
}
