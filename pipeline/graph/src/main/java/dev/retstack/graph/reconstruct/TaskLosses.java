package dev.retstack.graph.reconstruct;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What losses leave unknown of one task's ret_stack; README.md has the proof. A loss is
 * <em>pending</em> until the next entry or exit tells how many frames are alive; then the frames
 * that cannot have been pushed during the loss are known to live on, and above them is a
 * <em>hole</em>: frames of which nothing is known, until so few are left that it is empty.
 */
final class TaskLosses {
  /** So many records are missing that no frame is sure. */
  static final long UNBOUNDED = Long.MAX_VALUE;

  private final TaskStack stack;
  private final GraphListener listener;

  /** The stack's clock now. */
  private final StackClock clock;

  /** The stack's clock at the last record before the loss that is pending. */
  private final StackClock before = new StackClock();

  private boolean pending;

  /** Records missing, at most. */
  private long missing;

  /** Time of the last record before the loss. */
  private long since;

  // the holes, the lowest first: index in ret_stack of its lowest frame, slots below it, slot of
  // the
  // call it is in, since when in the stack's own time
  private final IntArrayList bases = new IntArrayList(0);
  private final IntArrayList slots = new IntArrayList(0);
  private final IntArrayList owners = new IntArrayList(0);
  private final LongArrayList times = new LongArrayList(0);

  TaskLosses(TaskStack stack, StackClock clock, GraphListener listener) {
    this.stack = stack;
    this.clock = clock;
    this.listener = listener;
  }

  /** The clock as it was at the last record before the loss that is pending. */
  StackClock before() {
    return before;
  }

  /**
   * Records are missing here.
   *
   * @param then the stack's clock at the last record before
   */
  void lose(long lastSeen, long count, StackClock then) {
    if (!pending) {
      before.set(then);
    }
    since = pending ? since : lastSeen;
    missing = pending ? Saturating.sum(missing, count) : count;
    pending = true;
  }

  /** Whether records are missing since the last entry or exit. */
  boolean isPending() {
    return pending;
  }

  /** Time of the last record before the loss that is pending. */
  long since() {
    return since;
  }

  /**
   * Calls of frames below this index are the same as before the loss if so many frames are alive
   * after it. One frame more is, but its function may have jumped to the one above it.
   */
  int survivors(int alive) {
    return (int) Math.max(0, alive - 1 - Math.min(missing, Integer.MAX_VALUE));
  }

  /**
   * The loss is no longer pending: frames from {@code base} on are unknown, those of slots from
   * {@code from} on are marked so.
   */
  void settle(int base, int from) {
    pending = false;
    int floor = from;
    while (floor > 0 && stack.isUnknown(floor - 1)) {
      floor--;
    }
    while (!slots.isEmpty() && slots.topInt() > floor) {
      // where the call it was in is cut off itself, it is so with all its time
      int owner = owners.topInt() < floor ? owners.topInt() : GraphListener.NONE;
      close(owner, before.ran(since), since);
    }
    if (!slots.isEmpty() && slots.topInt() == floor) {
      bases.set(bases.size() - 1, Math.min(bases.topInt(), base));
      listener.settled();
    } else if (floor == 0) {
      listener.settled();
    } else {
      bases.push(base);
      slots.push(floor);
      owners.push(enclosing(floor));
      times.push(before.ran(since));
      listener.holeOpened(owners.topInt());
    }
  }

  /** Holes that are open. */
  int holes() {
    return bases.size();
  }

  /** So many frames are alive: holes above them are empty. */
  void alive(int frames, long now) {
    while (!bases.isEmpty() && bases.topInt() >= frames) {
      close(owners.topInt(), clock.ran(now), now);
    }
  }

  private void close(int slot, long ran, long now) {
    bases.popInt();
    slots.popInt();
    owners.popInt();
    listener.holeClosed(slot, ran - times.popLong(), now);
  }

  /** For another stack: nothing is missing. */
  void clear() {
    pending = false;
    missing = 0;
    since = 0;
    before.clear();
    bases.clear();
    slots.clear();
    owners.clear();
    times.clear();
  }

  /** Slot of the innermost open call of those below this one. */
  private int enclosing(int slot) {
    return stack.tailCalled(slot - 1) ? stack.parent(slot - 1) : slot - 1;
  }

  /** Whether it is unknown which frame is the topmost. */
  boolean isTopUnknown() {
    int size = stack.size();
    return pending
        || (size > 0 && stack.isUnknown(size - 1))
        || (!slots.isEmpty() && slots.topInt() == size);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeBoolean(pending);
    out.writeLong(missing);
    out.writeLong(since);
    before.writeTo(out);
    out.writeInt(bases.size());
    for (int i = 0; i < bases.size(); i++) {
      out.writeInt(bases.getInt(i));
      out.writeInt(slots.getInt(i));
      out.writeInt(owners.getInt(i));
      out.writeLong(times.getLong(i));
    }
  }

  /** Reads what {@link #writeTo} wrote; the stack is complete already. */
  void readFrom(DataInput in) throws IOException {
    pending = in.readBoolean();
    missing = in.readLong();
    since = in.readLong();
    before.readFrom(in);
    int count = in.readInt();
    if (missing < 0 || since < 0 || count < 0 || count > stack.size()) {
      throw new IOException("corrupt snapshot: " + count + " holes in a stack");
    }
    int below = 0;
    for (int i = 0; i < count; i++) {
      bases.push(in.readInt());
      slots.push(in.readInt());
      owners.push(in.readInt());
      times.push(in.readLong());
      if (owners.topInt() < GraphListener.NONE || owners.topInt() >= slots.topInt()) {
        throw new IOException("corrupt snapshot: a hole in slot " + owners.topInt());
      }
      if (bases.topInt() < 0 || slots.topInt() <= below || slots.topInt() > stack.size()) {
        throw new IOException("corrupt snapshot: a hole above slot " + slots.topInt());
      }
      below = slots.topInt();
    }
  }
}
