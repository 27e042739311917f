package dev.retstack.graph.calls;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.tree.CallTreeLog;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * The frames of one shadow stack whose entries were seen, outermost first: what a record said, and
 * what is added up for the call. A frame keeps the index that it has in the guest's ret_stack
 * ({@code depth}); an index that is missing here is a frame whose entry was not seen. So a stream
 * that claims to be deep costs no memory until it shows its entries.
 *
 * <p>A frame is one row of sixteen words, two cache lines. The first line is what an exit is
 * compared with, the second is what the end of a call adds up:
 *
 * <pre>
 *   DEPTH   PARENT  FROM_PC   RET_P         FP          (three words are free)
 *   SELF_PC ENTER   CHILDREN  ARC_FUNCTION  LEVEL_ROW   CALLER_PC  RAN  LEFT_OUT
 * </pre>
 */
final class Frames {
  /** No slot. */
  static final int NONE = -1;

  /** With {@link #ENDED} and {@link #UNKNOWN}. */
  private static final int DEPTH = 0;

  private static final int PARENT = 1;
  private static final int FROM_PC = 2;
  private static final int RET_P = 3;
  private static final int FP = 4;
  private static final int SELF_PC = 8;
  private static final int ENTER = 9;

  /** Time of the finished calls below. */
  private static final int CHILDREN = 10;

  /** Arc in the upper half, function in the lower. */
  private static final int ARC_FUNCTION = 11;

  /** Level in the upper half, row of the call tree in the lower. */
  private static final int LEVEL_ROW = 12;

  private static final int CALLER_PC = 13;

  /** The stack's own time at entry. */
  private static final int RAN = 14;

  /** What was left out of totals by then. */
  private static final int LEFT_OUT = 15;

  private static final int SHIFT = 4;

  /** The call has ended; its exit record, which will come, only clears the frame. */
  private static final long ENDED = Long.MIN_VALUE;

  /** With {@link #ENDED}: a loss may have put another frame in its place. */
  private static final long UNKNOWN = 1L << 62;

  /** Frames that every stack may have; those beyond are the core's. */
  private static final int FREE = 32;

  /** Frames that a stack has room for when its first one comes. */
  private static final int FIRST = 4;

  private static final long[] EMPTY = {};

  private final Budget budget;
  private long[] rows = EMPTY;
  private int size;

  Frames(Budget budget) {
    this.budget = budget;
  }

  int size() {
    return size;
  }

  /** Frames that may be pushed before it asks again: the core has room for them. */
  int room() {
    return capacity() - size + growth();
  }

  /** Whether there is no room. */
  boolean isFull() {
    return size == capacity() && growth() == 0;
  }

  /** Frames by which it grows: it doubles, or stays. */
  private int growth() {
    int more = Math.max(FIRST, capacity());
    return budget.room(Math.max(0, FREE - capacity())) < more ? 0 : more;
  }

  /** Frames that it has room for now. */
  private int capacity() {
    return rows.length >> SHIFT;
  }

  /** Frames of the core's that it took. */
  private int charged() {
    return Math.max(0, capacity() - FREE);
  }

  /** Gives back the room that it took, and is empty. */
  void release() {
    size = 0;
    resize(EMPTY);
  }

  /** Frames that may be pushed without taking room. */
  int spare() {
    return capacity() - size;
  }

  /**
   * Takes room, even where another partition has taken the bytes since {@code growth} was asked.
   */
  void grow() {
    grow(Math.max(FIRST, capacity()));
  }

  private void grow(int frames) {
    resize(Arrays.copyOf(rows, rows.length + (frames << SHIFT)));
  }

  private void resize(long[] to) {
    final int frames = capacity();
    final int counted = charged();
    rows = to;
    budget.resize(frames, counted, capacity(), charged());
  }

  /** Puts a frame on it, for which there must be {@link #room}. */
  int push(int depth, int parent, long selfPc, long fromPc, long retP, long fp) {
    int slot = size;
    if (slot << SHIFT == rows.length) {
      grow();
    }
    size = slot + 1;
    set(slot, depth, parent, selfPc, fromPc, retP, fp);
    return slot;
  }

  /** Puts frames on it, for which there must be {@link #room}; they are {@link #set} next. */
  void extend(int frames) {
    while (spare() < frames) {
      grow();
    }
    size += frames;
  }

  /** What the entry record of a frame says. */
  void set(int slot, int depth, int parent, long selfPc, long fromPc, long retP, long fp) {
    long[] r = rows;
    int at = slot << SHIFT;
    r[at + DEPTH] = depth;
    r[at + PARENT] = parent;
    r[at + FROM_PC] = fromPc;
    r[at + RET_P] = retP;
    r[at + FP] = fp;
    r[at + SELF_PC] = selfPc;
  }

  /**
   * What is known of the call of a frame when it begins.
   *
   * @param ran the stack's own time
   * @param leftOut of the core's time not in totals, so far
   */
  void begin(
      int slot,
      long callerPc,
      long time,
      int arc,
      int function,
      int level,
      int row,
      long ran,
      long leftOut) {
    long[] r = rows;
    int at = slot << SHIFT;
    r[at + ENTER] = time;
    r[at + CHILDREN] = 0;
    r[at + ARC_FUNCTION] = both(arc, function);
    r[at + LEVEL_ROW] = both(level, row);
    r[at + CALLER_PC] = callerPc;
    r[at + RAN] = ran;
    r[at + LEFT_OUT] = leftOut;
  }

  /** Only since then does the call of a frame run, as far as is known; see {@link #begin}. */
  void beganBy(int slot, long ran, long leftOut) {
    rows[(slot << SHIFT) + RAN] = ran;
    rows[(slot << SHIFT) + LEFT_OUT] = leftOut;
  }

  private static long both(int upper, int lower) {
    return (long) upper << 32 | (lower & 0xffff_ffffL);
  }

  /** Forgets this frame and all above it. */
  void popTo(int slot) {
    size = slot;
  }

  private long get(int slot, int word) {
    return rows[(slot << SHIFT) + word];
  }

  int depth(int slot) {
    return (int) get(slot, DEPTH);
  }

  /** Slot of the call that encloses it, or {@link #NONE}. */
  int parent(int slot) {
    return (int) get(slot, PARENT);
  }

  long selfPc(int slot) {
    return get(slot, SELF_PC);
  }

  long fromPc(int slot) {
    return get(slot, FROM_PC);
  }

  long retP(int slot) {
    return get(slot, RET_P);
  }

  long fp(int slot) {
    return get(slot, FP);
  }

  long enter(int slot) {
    return get(slot, ENTER);
  }

  /** Time of the finished calls below. */
  long children(int slot) {
    return get(slot, CHILDREN);
  }

  void addChild(int slot, long duration) {
    rows[(slot << SHIFT) + CHILDREN] += duration;
  }

  /** Id of its arc, negative where its function is not kept. */
  int arc(int slot) {
    return (int) (get(slot, ARC_FUNCTION) >>> 32);
  }

  /** Id of its function, {@link CallProfile#NOT_KEPT} where it has none. */
  int function(int slot) {
    return (int) get(slot, ARC_FUNCTION);
  }

  /** Calls that enclose it. */
  int level(int slot) {
    return (int) (get(slot, LEVEL_ROW) >>> 32);
  }

  /** Row of a frame in the call tree, or {@link CallTreeLog#NONE}. */
  int row(int slot) {
    return (int) get(slot, LEVEL_ROW);
  }

  void setRow(int slot, int row) {
    rows[(slot << SHIFT) + LEVEL_ROW] = both(level(slot), row);
  }

  /** Replaces the row numbers of all frames, because the call tree has new ones. */
  void renumber(IntUnaryOperator numbers) {
    for (int slot = 0; slot < size; slot++) {
      setRow(slot, numbers.applyAsInt(row(slot)));
    }
  }

  /** selfPc of the function that called it, 0 where unknown. */
  long callerPc(int slot) {
    return get(slot, CALLER_PC);
  }

  /** The stack's own time at entry. */
  long ran(int slot) {
    return get(slot, RAN);
  }

  /** What was left out of totals at entry. */
  long leftOut(int slot) {
    return get(slot, LEFT_OUT);
  }

  /**
   * Whether the call of this slot has ended; the frame, or another in its place, is still there.
   */
  boolean hasEnded(int slot) {
    return get(slot, DEPTH) < 0;
  }

  void setEnded(int slot) {
    rows[(slot << SHIFT) + DEPTH] |= ENDED;
  }

  /** The call of this slot has ended as far as can be known. */
  void setUnknown(int slot) {
    rows[(slot << SHIFT) + DEPTH] |= ENDED | UNKNOWN;
  }

  /** Whether a loss may have put another call in its place. */
  boolean isUnknown(int slot) {
    return (get(slot, DEPTH) & UNKNOWN) != 0;
  }

  /** Whether no loss may have put another call in the place of any. */
  boolean allKnown() {
    for (int slot = 0; slot < size; slot++) {
      if (isUnknown(slot)) {
        return false;
      }
    }
    return true;
  }

  /** Depth of the topmost frame if its call is open, else less than -1. */
  int openDepth() {
    long top = size == 0 ? ENDED : rows[(size - 1) << SHIFT];
    return top < 0 ? Integer.MIN_VALUE : (int) top;
  }

  /**
   * Whether an exit record says of the frame what its entry said.
   *
   * @param retPMask all ones where {@code retP} must agree, else 0
   * @param fpMask the same for {@code fp}
   */
  boolean agrees(
      int slot, long selfPc, long fromPc, long retP, long retPMask, long fp, long fpMask) {
    long[] r = rows;
    int at = slot << SHIFT;
    long differs = (r[at + SELF_PC] ^ selfPc) | (r[at + FROM_PC] ^ fromPc);
    differs |= (r[at + RET_P] ^ retP) & retPMask;
    differs |= (r[at + FP] ^ fp) & fpMask;
    return differs == 0;
  }

  /** Depth of the topmost frame, -1 where none is known. */
  int topDepth() {
    return size == 0 ? -1 : depth(size - 1);
  }

  /** Slot of the frame at this depth if it is the topmost known one, else {@link #NONE}. */
  int topAt(int depth) {
    int top = size - 1;
    return top >= 0 && depth(top) == depth ? top : NONE;
  }

  /** Slot of the innermost open call of those up to this one, or {@link #NONE}. */
  int innermost(int slot) {
    return slot >= 0 && hasEnded(slot) ? parent(slot) : slot;
  }

  /** selfPc of the open calls, innermost first, at most {@code limit}. */
  long[] open(int limit) {
    long[] open = new long[Math.min(size, limit)];
    int n = 0;
    for (int slot = size - 1; slot >= 0 && n < open.length; slot--) {
      if (!hasEnded(slot)) {
        open[n++] = selfPc(slot);
      }
    }
    return n == open.length ? open : Arrays.copyOf(open, n);
  }

  /**
   * Takes the frames of a segment that began with the frames here; only these have a row there.
   *
   * @param theirs the profile of the segment, merged into {@code profile} already
   */
  void join(Frames segment, CallProfile theirs, CallProfile profile) {
    int same = 0;
    while (same < segment.size && segment.row(same) >= 0) {
      addChild(same, segment.children(same));
      if (segment.hasEnded(same)) {
        setEnded(same);
      }
      same++;
    }
    popTo(same);
    for (int slot = same; slot < segment.size; slot++) {
      int arc = segment.arc(slot);
      arc = arc < 0 ? arc : profile.sameArc(theirs, arc);
      int function = arc < 0 ? CallProfile.NOT_KEPT : profile.arcs().callee(arc);
      extend(1);
      System.arraycopy(segment.rows, slot << SHIFT, rows, slot << SHIFT, 1 << SHIFT);
      rows[(slot << SHIFT) + ARC_FUNCTION] = both(arc, function);
    }
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(charged());
    out.writeInt(size);
    for (int slot = 0; slot < size; slot++) {
      out.writeInt(depth(slot));
      out.writeInt(parent(slot));
      out.writeLong(selfPc(slot));
      out.writeLong(fromPc(slot));
      out.writeLong(retP(slot));
      out.writeLong(fp(slot));
      out.writeByte((hasEnded(slot) ? 1 : 0) | (isUnknown(slot) ? 2 : 0));
      out.writeLong(callerPc(slot));
      out.writeLong(enter(slot));
      out.writeLong(children(slot));
      out.writeInt(arc(slot));
      out.writeInt(level(slot));
      out.writeInt(row(slot));
      out.writeLong(ran(slot));
      out.writeLong(leftOut(slot));
    }
  }

  /**
   * Reads what {@link #writeTo} wrote into this empty stack.
   *
   * @param treeRows rows of the call tree
   * @param written the profile by whose arcs it was written
   * @param profile the profile of this core
   * @throws IOException where depths do not rise below the limit, a parent is not an open frame
   *     below, or a call has an arc or a row that is not there
   */
  void readFrom(DataInput in, int maxDepth, int treeRows, CallProfile written, CallProfile profile)
      throws IOException {
    int taken = in.readInt();
    if (taken < 0 || taken > budget.left()) {
      throw new IOException("corrupt snapshot: a stack with room for " + taken + " frames more");
    }
    if (taken > 0) {
      grow(FREE + taken);
    }
    int count = in.readInt();
    if (count < 0 || count > Math.min(maxDepth, FREE + taken)) {
      throw new IOException("corrupt snapshot: a stack of " + count + " frames");
    }
    int before = -1;
    for (int slot = 0; slot < count; slot++) {
      int depth = in.readInt();
      int parent = in.readInt();
      if (depth <= before || depth >= maxDepth || parent < -1 || parent >= slot) {
        throw new IOException("corrupt snapshot: frame " + slot + " at depth " + depth);
      }
      push(depth, parent, in.readLong(), in.readLong(), in.readLong(), in.readLong());
      int state = in.readUnsignedByte();
      if (state == 1) {
        setEnded(slot);
      } else if (state == 3) {
        setUnknown(slot);
      } else if (state != 0) {
        throw new IOException("corrupt snapshot: frame " + slot + " in state " + state);
      }
      if (parent >= 0 && hasEnded(parent) && !isUnknown(slot)) {
        throw new IOException("corrupt snapshot: frame " + slot + " lies in a finished call");
      }
      readCall(in, slot, treeRows, written, profile);
      before = depth;
    }
  }

  private void readCall(
      DataInput in, int slot, int treeRows, CallProfile written, CallProfile profile)
      throws IOException {
    final long callerPc = in.readLong();
    final long enter = in.readLong();
    final long children = in.readLong();
    int arc = in.readInt();
    if (arc < CallProfile.NOT_KEPT || arc >= written.arcCount()) {
      throw new IOException("corrupt snapshot: arc " + arc + " of " + written.arcCount());
    }
    arc = arc < 0 ? arc : profile.sameArc(written, arc);
    int function = arc < 0 ? CallProfile.NOT_KEPT : profile.arcs().callee(arc);
    int level = in.readInt();
    int row = Fields.readRow(in, treeRows);
    begin(slot, callerPc, enter, arc, function, level, row, in.readLong(), in.readLong());
    addChild(slot, children);
  }

  /**
   * How many frames the ret_stacks of one core may still take, all together. It bounds the memory
   * of a core whose records open many deep stacks.
   */
  static final class Budget {
    /** A row of {@link Frames}. */
    private static final int FRAME_BYTES = 128;

    /** Frames that a core has whatever room there is: one that wakes without any would be deaf. */
    private static final int ALWAYS = 32;

    private final StateBudget.Account account;
    private int left;

    /** Frames that all stacks have room for. */
    private int all;

    /**
     * @param frames beyond those that each stack may have anyway
     */
    Budget(int frames, StateBudget.Account account) {
      this.left = frames;
      this.account = account;
    }

    int left() {
      return left;
    }

    /**
     * Frames that a stack may grow by, where it may have {@code beside} frames beyond the limit.
     */
    int room(int beside) {
      long fit = Math.max(account.room() / FRAME_BYTES, ALWAYS - all);
      return (int) Math.max(0, Math.min((long) beside + left, fit));
    }

    /**
     * The room of a stack changes.
     *
     * @param before frames that it had room for, of which {@code countedBefore} were of these
     */
    void resize(int before, int countedBefore, int now, int countedNow) {
      long more = bytes(now) - bytes(before);
      if (more > 0) {
        account.charge(more);
      } else {
        account.give(-more);
      }
      left += countedBefore - countedNow;
      all += now - before;
    }

    private long bytes(int frames) {
      return account.array((long) frames * FRAME_BYTES);
    }
  }
}
