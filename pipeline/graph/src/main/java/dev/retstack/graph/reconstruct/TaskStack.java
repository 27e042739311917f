package dev.retstack.graph.reconstruct;

import dev.retstack.schema.codec.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The known frames of one task's ret_stack, outermost first. A frame keeps the index it has in the
 * guest's ret_stack ({@code depth}); indexes that are missing here are frames whose entry was not
 * seen. So a stream that claims to be deep costs no memory until it shows its entries.
 *
 * <p>All of one frame stands in one row, eight words, so that a record touches one cache line.
 */
final class TaskStack {
  /** With {@link #TAIL_CALLED}. */
  private static final int DEPTH = 0;

  private static final int PARENT = 1;
  private static final int SELF_PC = 2;
  private static final int FROM_PC = 3;
  private static final int RET_P = 4;
  private static final int FP = 5;

  /** The call is finished; its exit record, which will come, only clears the frame. */
  private static final long TAIL_CALLED = Long.MIN_VALUE;

  /** With {@link #TAIL_CALLED}: a loss may have put another call in its place. */
  private static final long UNKNOWN = 1L << 62;

  private static final int ROW_SHIFT = 3;

  /** Frames that every stack may have; those beyond are the core's. */
  private static final int FREE = 32;

  /** Frames that a stack has room for when its first one comes. */
  private static final int FIRST = 4;

  private static final long[] EMPTY = {};

  private final FrameBudget budget;
  private long[] rows = EMPTY;
  private int size;

  TaskStack(FrameBudget budget) {
    this.budget = budget;
  }

  int size() {
    return size;
  }

  /**
   * Puts the frames on it that a run of linked records left open, each called by the one below.
   *
   * @param opened indexes of their entries
   * @param guestSize frames in the guest's ret_stack before
   * @return frames in it now
   */
  int pushAll(RecordBatch batch, IntList opened, int guestSize) {
    int frames = guestSize;
    for (int n = 0; n < opened.size(); n++) {
      int i = opened.getInt(n);
      push(
          batch.depth[i], size() - 1, batch.selfPc[i], batch.fromPc[i], batch.retP[i], batch.fp[i]);
      frames = batch.depth[i] + 1;
    }
    return frames;
  }

  /** Frames that may be pushed before it asks again: the core has room for them. */
  int room() {
    return capacity() - size + growth();
  }

  /** Whether there is no room. */
  boolean isFull() {
    return size == capacity() && growth() == 0;
  }

  /** It doubles, as the array does that has what is added up for its calls, or stays. */
  private int growth() {
    int more = Math.max(FIRST, capacity());
    return budget.room(Math.max(0, FREE - capacity())) < more ? 0 : more;
  }

  /** Frames that it has room for now. */
  int capacity() {
    return rows.length >> ROW_SHIFT;
  }

  /** Frames of the core's that it took. */
  private int taken() {
    return Math.max(0, capacity() - FREE);
  }

  /** Gives back the room that it took, and is empty. */
  void release() {
    size = 0;
    resize(EMPTY);
  }

  private void grow(int frames) {
    resize(Arrays.copyOf(rows, rows.length + (frames << ROW_SHIFT)));
  }

  private void resize(long[] to) {
    final int frames = capacity();
    final int counted = taken();
    rows = to;
    budget.resize(frames, counted, capacity(), taken());
  }

  /** Puts a frame on it, for which there must be {@link #room}. */
  int push(int depth, int parent, long selfPc, long fromPc, long retP, long fp) {
    int slot = size;
    int at = slot << ROW_SHIFT;
    if (at == rows.length) {
      // another partition may have taken the bytes meanwhile: what room() told stands
      grow(Math.max(FIRST, capacity()));
    }
    long[] r = rows;
    r[at + DEPTH] = depth;
    r[at + PARENT] = parent;
    r[at + SELF_PC] = selfPc;
    r[at + FROM_PC] = fromPc;
    r[at + RET_P] = retP;
    r[at + FP] = fp;
    size = slot + 1;
    return slot;
  }

  /** Forgets this frame and all above it. */
  void popTo(int slot) {
    size = slot;
  }

  int depth(int slot) {
    return (int) rows[(slot << ROW_SHIFT) + DEPTH];
  }

  /** Slot of the call that encloses it, or {@link GraphListener#NONE}. */
  int parent(int slot) {
    return (int) rows[(slot << ROW_SHIFT) + PARENT];
  }

  long selfPc(int slot) {
    return rows[(slot << ROW_SHIFT) + SELF_PC];
  }

  long fromPc(int slot) {
    return rows[(slot << ROW_SHIFT) + FROM_PC];
  }

  long retP(int slot) {
    return rows[(slot << ROW_SHIFT) + RET_P];
  }

  long fp(int slot) {
    return rows[(slot << ROW_SHIFT) + FP];
  }

  boolean tailCalled(int slot) {
    return rows[(slot << ROW_SHIFT) + DEPTH] < 0;
  }

  /** The call of this slot is finished, the frame stays. */
  void setTailCalled(int slot) {
    rows[(slot << ROW_SHIFT) + DEPTH] |= TAIL_CALLED;
  }

  /**
   * The call of this slot is finished as far as can be known; its frame, or another in its place,
   * is still there.
   */
  void setUnknown(int slot) {
    rows[(slot << ROW_SHIFT) + DEPTH] |= TAIL_CALLED | UNKNOWN;
  }

  /** Whether a loss may have put another call in its place. */
  boolean isUnknown(int slot) {
    return (rows[(slot << ROW_SHIFT) + DEPTH] & UNKNOWN) != 0;
  }

  /** Depth of the topmost frame if its call is open, else less than -1. */
  int openDepth() {
    long top = size == 0 ? TAIL_CALLED : rows[(size - 1) << ROW_SHIFT];
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
    int at = slot << ROW_SHIFT;
    long differs = (r[at + SELF_PC] ^ selfPc) | (r[at + FROM_PC] ^ fromPc);
    differs |= (r[at + RET_P] ^ retP) & retPMask;
    differs |= (r[at + FP] ^ fp) & fpMask;
    return differs == 0;
  }

  /** Depth of the topmost frame, -1 where none is known. */
  int topDepth() {
    return size == 0 ? -1 : depth(size - 1);
  }

  /** Slot of the frame at this depth if it is the topmost known one, else -1. */
  int topAt(int depth) {
    int top = size - 1;
    return top >= 0 && depth(top) == depth ? top : GraphListener.NONE;
  }

  /** selfPc of the open calls, innermost first, at most {@code limit}. */
  long[] open(int limit) {
    long[] stack = new long[Math.min(size, limit)];
    int n = 0;
    for (int slot = size - 1; slot >= 0 && n < stack.length; slot--) {
      if (!tailCalled(slot)) {
        stack[n++] = selfPc(slot);
      }
    }
    return n == stack.length ? stack : Arrays.copyOf(stack, n);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(taken());
    out.writeInt(size);
    for (int slot = 0; slot < size; slot++) {
      out.writeInt(depth(slot));
      out.writeInt(parent(slot));
      out.writeLong(selfPc(slot));
      out.writeLong(fromPc(slot));
      out.writeLong(retP(slot));
      out.writeLong(fp(slot));
      out.writeByte((tailCalled(slot) ? 1 : 0) | (isUnknown(slot) ? 2 : 0));
    }
  }

  /**
   * Reads what {@link #writeTo} wrote into this empty stack.
   *
   * @throws IOException where depths do not rise below the limit or a parent is not an open frame
   *     below
   */
  void readFrom(DataInput in, int maxDepth) throws IOException {
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
        setTailCalled(slot);
      } else if (state == 3) {
        setUnknown(slot);
      } else if (state != 0) {
        throw new IOException("corrupt snapshot: frame " + slot + " in state " + state);
      }
      if (parent >= 0 && tailCalled(parent) && !isUnknown(slot)) {
        throw new IOException("corrupt snapshot: frame " + slot + " lies in a finished call");
      }
      before = depth;
    }
  }
}
