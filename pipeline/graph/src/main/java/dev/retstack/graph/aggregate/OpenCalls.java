package dev.retstack.graph.aggregate;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * What is added up for the calls on one stack, by slot. All of one call stands in one row, eight
 * words, so that a call touches one cache line.
 */
final class OpenCalls {
  private static final int ENTER = 0;

  /** Time of the finished calls below. */
  private static final int CHILDREN = 1;

  private static final int SELF_PC = 2;
  private static final int CALLER_PC = 3;

  /** Arc in the upper half, function in the lower. */
  private static final int ARC_FUNCTION = 4;

  /** Level in the upper half, call in the tree in the lower. */
  private static final int LEVEL_TREE = 5;

  /** The stack's own time at entry. */
  private static final int RAN = 6;

  /** What was left out of totals by then. */
  private static final int LEFT_OUT = 7;

  private static final int ROW_SHIFT = 3;
  private static final int FIRST = 4;

  private static final long[] EMPTY = {};

  private long[] rows = EMPTY; // its bytes count with the frames of the stack

  /** Of the core's time not the stack's own, so far. */
  private long notRun;

  /** Of the core's time not in totals, so far. */
  private long leftOut;

  /**
   * From now on, until told again.
   *
   * @param elsewhere of the core's time, what is not the stack's own
   * @param notCounted of the core's time, what does not count in totals
   */
  void clock(long elsewhere, long notCounted) {
    notRun = elsewhere;
    leftOut = notCounted;
  }

  /** Of the core's time not the stack's own, so far. */
  long notRun() {
    return notRun;
  }

  /** The call of a slot, as it stands where so much of the core's time is not the stack's. */
  CoreGraph.OpenRow open(int slot, long lostSince, long elsewhere, long notCounted) {
    int at = slot << ROW_SHIFT;
    return new CoreGraph.OpenRow(
        lostSince,
        elsewhere - (rows[at + ENTER] - rows[at + RAN]),
        notCounted - rows[at + LEFT_OUT]);
  }

  /** How long a call that ends now ran, with the calls below it. */
  long ran(int slot, long now) {
    return now - notRun - rows[(slot << ROW_SHIFT) + RAN];
  }

  /** How long a call that ends now took, as totals count it. */
  long took(int slot, long now) {
    int at = slot << ROW_SHIFT;
    return now - rows[at + ENTER] - (leftOut - rows[at + LEFT_OUT]);
  }

  /** Begins the call of this slot. */
  void enter(
      int slot, long selfPc, long callerPc, long time, int arc, int function, int level, int tree) {
    int at = slot << ROW_SHIFT;
    if (at >= rows.length) {
      int least = Math.max(FIRST << ROW_SHIFT, at + (1 << ROW_SHIFT));
      rows = Arrays.copyOf(rows, Math.max(2 * rows.length, least));
    }
    long[] r = rows;
    r[at + ENTER] = time;
    r[at + CHILDREN] = 0;
    r[at + SELF_PC] = selfPc;
    r[at + CALLER_PC] = callerPc;
    r[at + ARC_FUNCTION] = both(arc, function);
    r[at + LEVEL_TREE] = both(level, tree);
    r[at + RAN] = time - notRun;
    r[at + LEFT_OUT] = leftOut;
  }

  void addChild(int slot, long duration) {
    rows[(slot << ROW_SHIFT) + CHILDREN] += duration;
  }

  long entered(int slot) {
    return rows[(slot << ROW_SHIFT) + ENTER];
  }

  long children(int slot) {
    return rows[(slot << ROW_SHIFT) + CHILDREN];
  }

  long selfPc(int slot) {
    return rows[(slot << ROW_SHIFT) + SELF_PC];
  }

  long callerPc(int slot) {
    return rows[(slot << ROW_SHIFT) + CALLER_PC];
  }

  /** Id of its arc, negative where its function is not kept. */
  int arc(int slot) {
    return (int) (rows[(slot << ROW_SHIFT) + ARC_FUNCTION] >>> 32);
  }

  /** Id of its function, {@link CallProfile#NOT_KEPT} where it has none. */
  int function(int slot) {
    return (int) rows[(slot << ROW_SHIFT) + ARC_FUNCTION];
  }

  /** Calls that enclose it. */
  int level(int slot) {
    return (int) (rows[(slot << ROW_SHIFT) + LEVEL_TREE] >>> 32);
  }

  /** Its number in the tree, or {@link CallTreeLog#NONE}. */
  int treeCall(int slot) {
    return (int) rows[(slot << ROW_SHIFT) + LEVEL_TREE];
  }

  private static long both(int upper, int lower) {
    return (long) upper << 32 | (lower & 0xffff_ffffL);
  }

  void writeTo(DataOutput out, int slots) throws IOException {
    out.writeLong(notRun);
    out.writeLong(leftOut);
    for (int slot = 0; slot < slots; slot++) {
      out.writeLong(selfPc(slot));
      out.writeLong(callerPc(slot));
      out.writeLong(entered(slot));
      out.writeLong(children(slot));
      out.writeInt(arc(slot));
      out.writeInt(level(slot));
      out.writeInt(treeCall(slot));
      out.writeLong(rows[(slot << ROW_SHIFT) + RAN]);
      out.writeLong(rows[(slot << ROW_SHIFT) + LEFT_OUT]);
    }
  }

  /**
   * Reads what {@link #writeTo} wrote.
   *
   * @param capacity slots of the stack, for as many of which there is room as in the stack itself
   * @param written the profile by whose arcs it was written
   * @param profile the profile of this core
   * @throws IOException where a call has an arc that the profile does not know
   */
  void readFrom(DataInput in, int slots, int capacity, CallProfile written, CallProfile profile)
      throws IOException {
    notRun = in.readLong();
    leftOut = in.readLong();
    rows = slots == 0 ? EMPTY : new long[capacity << ROW_SHIFT];
    for (int slot = 0; slot < slots; slot++) {
      long selfPc = in.readLong();
      long callerPc = in.readLong();
      final long enter = in.readLong();
      final long children = in.readLong();
      int arc = in.readInt();
      if (arc < CallProfile.NOT_KEPT || arc >= written.arcCount()) {
        throw new IOException("corrupt snapshot: arc " + arc + " of " + written.arcCount());
      }
      arc = arc < 0 ? arc : profile.sameArc(written, arc);
      int function = arc < 0 ? CallProfile.NOT_KEPT : profile.arcs().callee(arc);
      enter(slot, selfPc, callerPc, enter, arc, function, in.readInt(), in.readInt());
      addChild(slot, children);
      rows[(slot << ROW_SHIFT) + RAN] = in.readLong();
      rows[(slot << ROW_SHIFT) + LEFT_OUT] = in.readLong();
    }
  }
}
