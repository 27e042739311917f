package dev.retstack.graph.reconstruct;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * One ret_stack of a core: a task's own, or that of an interrupt on top of it. Slots that a {@link
 * GraphListener} is told of are slots of the context that it was told of last.
 */
public final class StackContext {
  private final int handle;
  final TaskReconstructor calls;
  private CoreTask task;
  private boolean interrupt;
  private long number;

  /** Whether the beginning of the interrupt was seen, and it is still the same one. */
  private boolean known;

  private long since;

  StackContext(int handle, TaskReconstructor calls) {
    this.handle = handle;
    this.calls = calls;
  }

  /** A task's own stack. */
  void ofTask(CoreTask owner, long now) {
    task = owner;
    interrupt = false;
    number = 0;
    known = true;
    since = now;
  }

  /** The stack of an interrupt. */
  void ofInterrupt(CoreTask owner, long vector, boolean begun, long now) {
    task = owner;
    interrupt = true;
    number = vector;
    known = begun;
    since = now;
  }

  /** Small number of this context among those that are there; used again when it is over. */
  public int handle() {
    return handle;
  }

  /** The task that runs on it, or below it. */
  public CoreTask task() {
    return task;
  }

  /** Whether it is an interrupt's. */
  public boolean isInterrupt() {
    return interrupt;
  }

  /** Number of the interrupt, as the architecture numbers it. */
  public long number() {
    return number;
  }

  /** Whether all of the interrupt so far is known: its time is certain. */
  public boolean isKnown() {
    return known;
  }

  void forget() {
    known = false;
  }

  /** Since when it is known. */
  public long since() {
    return since;
  }

  /** The stack's own time from its beginning to this time of the core: it runs now. */
  public long ran(long now) {
    return calls.clock().ran(now) - since;
  }

  private StackClock clockAt(long now) {
    StackClock at = new StackClock();
    task.clockAt(task.stacks.indexOf(this), now, at);
    return at;
  }

  /** Time until now for which other tasks ran, or may have. */
  public long away(long now) {
    return clockAt(now).away;
  }

  /** Time until now for which interrupts ran on top. */
  public long interrupts(long now) {
    return clockAt(now).interrupts;
  }

  /** Time until now of which it is not known what ran. */
  public long unsure(long now) {
    return clockAt(now).unsure;
  }

  /** Time until now that is not its own: the three together. */
  public long elsewhere(long now) {
    return now - clockAt(now).ran(now);
  }

  /** Frames on the stack, open ones and tail-called ones that wait for their exit record. */
  public int slots() {
    return calls.stack().size();
  }

  /** Frames that the stack has room for now. */
  public int capacity() {
    return calls.stack().capacity();
  }

  /** Whether the call in this slot is open. */
  public boolean isOpen(int slot) {
    return !calls.stack().tailCalled(slot);
  }

  /** Time of the last record before a loss behind which no entry or exit came, else negative. */
  public long lostSince() {
    return calls.lostSince();
  }

  /** Stretches of the stack of which nothing is known since a loss. */
  public int holes() {
    return calls.holes();
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(number);
    out.writeBoolean(known);
    out.writeLong(since);
    calls.writeTo(out);
  }

  void readFrom(DataInput in, CoreTask owner, boolean ofInterrupt) throws IOException {
    task = owner;
    interrupt = ofInterrupt;
    number = in.readLong();
    known = in.readBoolean();
    since = in.readLong();
    if (since < 0) {
      throw new IOException("corrupt snapshot: a stack since " + since);
    }
    calls.readFrom(in);
  }
}
