package dev.retstack.graph.calls;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.function.IntUnaryOperator;

/**
 * What losses leave unknown of one shadow stack; LOSSES.md has the proof. A loss is
 * <em>pending</em> until the next entry or exit shows how many frames are alive. Frames that cannot
 * have been pushed during the loss continue. Above them is a <em>hole</em>: frames of which nothing
 * is known. The hole closes when no frame of it can be left.
 *
 * <p>The call tree has a row for each loss. The row stands in the call in which the loss happened,
 * and holds the calls that are seen in the hole.
 */
final class StackLosses {
  /** Count of missing records where no frame is certain to be alive. */
  static final long UNBOUNDED = Long.MAX_VALUE;

  private final Frames frames;
  private final CallTreeLog tree;

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
  // the call it is in, since when in the stack's own time, row of the tree
  private final IntArrayList bases = new IntArrayList(0);
  private final IntArrayList slots = new IntArrayList(0);
  private final IntArrayList owners = new IntArrayList(0);
  private final LongArrayList times = new LongArrayList(0);
  private final IntArrayList rows = new IntArrayList(0);

  /** Rows of losses of which it is not known yet in which call they happened. */
  private final IntArrayList waiting = new IntArrayList(0);

  /** Row of the interrupt whose stack it is, or none. */
  private int base = CallTreeLog.NONE;

  StackLosses(Frames frames, StackClock clock, CallTreeLog tree) {
    this.frames = frames;
    this.clock = clock;
    this.tree = tree;
  }

  /** The clock as it was at the last record before the loss that is pending. */
  StackClock before() {
    return before;
  }

  /** A loss happened while the stack was at hand. */
  void add(Loss loss, TracedTask task) {
    int row = enter(tree, loss, task.id(), task.instance());
    if (row >= 0) {
      waiting.push(row);
    }
  }

  /** A row for a loss, if there is room, which stands in no other so far; else none. */
  static int enter(CallTreeLog tree, Loss loss, long task, int instance) {
    if (tree.isFullBeside()) {
      return CallTreeLog.NONE;
    }
    int row = tree.enter(TreeKind.LOSS, 0, CallTreeLog.NONE, loss.after());
    tree.setTask(row, task, instance);
    tree.finish(row, loss.after(), Ending.RETURNED);
    tree.argumentsOf(row).set(row, 0, loss.values());
    return row;
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
   * Calls of frames below this index are the same as before the loss if {@code alive} frames are
   * alive after it. The frame above them is alive too, but its function may have jumped to the next
   * one.
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
    while (floor > 0 && frames.isUnknown(floor - 1)) {
      floor--;
    }
    while (!slots.isEmpty() && slots.topInt() > floor) {
      // where the call it was in is cut off itself, it is so with all its time
      int owner = owners.topInt() < floor ? owners.topInt() : Frames.NONE;
      close(owner, before.ran(since), since);
    }
    if (!slots.isEmpty() && slots.topInt() == floor) {
      bases.set(bases.size() - 1, Math.min(bases.topInt(), base));
      place(hole());
    } else if (floor == 0) {
      place(hole()); // no call is known to be open
    } else {
      open(base, floor);
    }
  }

  /**
   * The loss is over, and all frames that are left are those below this slot. Holes above them are
   * closed.
   *
   * @param ran the stack's own time now
   * @param until time of the first call that is known again, else now
   * @param jumped whether the topmost frame that is left gave way to that call
   */
  void over(int floor, long ran, long until, boolean jumped) {
    long last = Math.max(since, until);
    int owner = frames.innermost(floor - 1);
    int charged = jumped ? frames.parent(owner) : owner;
    boolean isCharged = charged < 0;
    while (!slots.isEmpty() && slots.topInt() >= floor) {
      int of = owners.topInt() < floor ? owners.topInt() : Frames.NONE;
      isCharged |= of == charged;
      // what a call ran is counted up to the loss where it jumped in it
      close(
          of,
          jumped && of == owner ? before.ran(since) : ran,
          slots.topInt() == floor ? last : since);
    }
    if (!isCharged) { // what ran from the loss until now may have been another call
      frames.addChild(charged, ran - before.ran(since));
    }
    for (int row : waiting) {
      int in = jumped && tree.enter(row) > until ? frames.parent(owner) : owner;
      int parent = in < 0 ? CallTreeLog.NONE : frames.row(in);
      tree.finish(row, Math.max(tree.enter(row), last), Ending.RETURNED);
      tree.setParent(row, parent >= 0 ? parent : hole());
    }
    waiting.clear();
    pending = false;
  }

  private void open(int base, int floor) {
    int owner = frames.innermost(floor - 1);
    int parent = owner < 0 ? CallTreeLog.NONE : frames.row(owner);
    int row = waiting.isEmpty() ? CallTreeLog.NONE : waiting.topInt();
    place(parent >= 0 ? parent : hole());
    bases.push(base);
    slots.push(floor);
    owners.push(owner);
    times.push(before.ran(since));
    rows.push(row);
    if (row >= 0) {
      tree.finish(row, tree.enter(row), Ending.OPEN);
    }
  }

  /** The losses that wait happened in this row, or in none. */
  private void place(int parent) {
    for (int row : waiting) {
      tree.setParent(row, parent);
    }
    waiting.clear();
  }

  /** Empties the holes above the {@code alive} frames that are alive. */
  void alive(int alive, long now) {
    while (!bases.isEmpty() && bases.topInt() >= alive) {
      close(owners.topInt(), clock.ran(now), now);
    }
  }

  private void close(int owner, long ran, long now) {
    bases.popInt();
    slots.popInt();
    owners.popInt();
    long lasted = ran - times.popLong();
    if (owner >= 0) {
      frames.addChild(owner, lasted); // unknown calls ran: it is nobody's own time
    }
    int row = rows.popInt();
    if (row >= 0) {
      tree.finish(row, now, Ending.RETURNED);
    }
  }

  /** Holes that are open. */
  int holes() {
    return bases.size();
  }

  /** Whether it is unknown which frame is the topmost. */
  boolean isTopUnknown() {
    int size = frames.size();
    return pending
        || (size > 0 && frames.isUnknown(size - 1))
        || (!slots.isEmpty() && slots.topInt() == size);
  }

  /** What is known to lie in no call and no hole is in this row, or in none. */
  void setBase(int row) {
    base = row;
  }

  /** Row of the interrupt whose stack it is, or none. */
  int base() {
    return base;
  }

  /** Row of what is not known to lie in any call: that of the innermost hole, or none. */
  int row() {
    return waiting.isEmpty() ? hole() : waiting.topInt();
  }

  private int hole() {
    return rows.isEmpty() ? base : rows.topInt();
  }

  /**
   * Replaces the row numbers of the losses, because the call tree has new ones.
   *
   * @param ofWaiting numbers of rows of which it is not known yet in which call they stand
   */
  void renumber(IntUnaryOperator numbers, IntUnaryOperator ofWaiting) {
    rows.replaceAll(numbers::applyAsInt);
    waiting.replaceAll(ofWaiting::applyAsInt);
    base = numbers.applyAsInt(base);
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
    rows.clear();
    waiting.clear();
    base = CallTreeLog.NONE;
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
      out.writeInt(rows.getInt(i));
    }
    out.writeInt(base);
    out.writeInt(waiting.size());
    for (int row : waiting) {
      out.writeInt(row);
    }
  }

  /** Reads what {@link #writeTo} wrote; the frames and the tree are complete already. */
  void readFrom(DataInput in) throws IOException {
    pending = in.readBoolean();
    missing = in.readLong();
    since = in.readLong();
    before.readFrom(in);
    int count = in.readInt();
    if (missing < 0 || since < 0 || count < 0 || count > frames.size()) {
      throw new IOException("corrupt snapshot: " + count + " holes in a stack");
    }
    int below = 0;
    for (int i = 0; i < count; i++) {
      bases.push(in.readInt());
      slots.push(in.readInt());
      owners.push(in.readInt());
      times.push(in.readLong());
      rows.push(Fields.readRow(in, tree.size()));
      if (owners.topInt() < Frames.NONE || owners.topInt() >= slots.topInt()) {
        throw new IOException("corrupt snapshot: a hole in slot " + owners.topInt());
      }
      if (bases.topInt() < 0 || slots.topInt() <= below || slots.topInt() > frames.size()) {
        throw new IOException(
            "corrupt snapshot: a hole from frame %d on above slot %d of %d, the one below it above %d"
                .formatted(bases.topInt(), slots.topInt(), frames.size(), below));
      }
      below = slots.topInt();
    }
    base = Fields.readRow(in, tree.size());
    readWaiting(in);
  }

  private void readWaiting(DataInput in) throws IOException {
    int last = base; // in one of the rows up to it they will be placed
    for (int slot = 0; slot < frames.size(); slot++) {
      last = Math.max(last, frames.row(slot));
    }
    for (int row : rows) {
      last = Math.max(last, row);
    }
    int count = Fields.readCount(in, tree.size(), "rows of losses");
    for (int i = 0; i < count; i++) {
      int row = Fields.readRow(in, tree.size());
      if (row <= last) {
        throw new IOException("corrupt snapshot: row " + row + " of a loss ahead of its call");
      }
      waiting.push(row);
    }
  }
}
