package dev.retstack.graph.reconstruct;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The known frames of one task's ret_stack, outermost first, in primitive columns. A frame keeps
 * the index it has in the guest's ret_stack ({@code depth}); indexes that are missing here are
 * frames whose entry was not seen. So a stream that claims to be deep costs no memory until it
 * shows its entries.
 */
final class TaskStack {
  int size;
  int[] depth = new int[INITIAL];
  int[] parent = new int[INITIAL];
  long[] selfPc = new long[INITIAL];
  long[] fromPc = new long[INITIAL];
  long[] retP = new long[INITIAL];
  long[] fp = new long[INITIAL];

  /** The call is finished; its exit record, which will come, only clears the frame. */
  boolean[] tailCalled = new boolean[INITIAL];

  private static final int INITIAL = 32;

  int push(int atDepth, int enclosing, long self, long from, long slotAddress, long framePointer) {
    int i = size;
    if (i == depth.length) {
      grow();
    }
    depth[i] = atDepth;
    parent[i] = enclosing;
    selfPc[i] = self;
    fromPc[i] = from;
    retP[i] = slotAddress;
    fp[i] = framePointer;
    tailCalled[i] = false;
    size = i + 1;
    return i;
  }

  /** Slot of the frame at this depth if it is the topmost known one, else -1. */
  int topAt(int atDepth) {
    int top = size - 1;
    return top >= 0 && depth[top] == atDepth ? top : GraphListener.NONE;
  }

  /** selfPc of the open calls, innermost first, at most {@code limit}. */
  long[] open(int limit) {
    long[] stack = new long[Math.min(size, limit)];
    int n = 0;
    for (int i = size - 1; i >= 0 && n < stack.length; i--) {
      if (!tailCalled[i]) {
        stack[n++] = selfPc[i];
      }
    }
    return n == stack.length ? stack : Arrays.copyOf(stack, n);
  }

  private void grow() {
    int capacity = 2 * depth.length;
    depth = Arrays.copyOf(depth, capacity);
    parent = Arrays.copyOf(parent, capacity);
    selfPc = Arrays.copyOf(selfPc, capacity);
    fromPc = Arrays.copyOf(fromPc, capacity);
    retP = Arrays.copyOf(retP, capacity);
    fp = Arrays.copyOf(fp, capacity);
    tailCalled = Arrays.copyOf(tailCalled, capacity);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size);
    for (int i = 0; i < size; i++) {
      out.writeInt(depth[i]);
      out.writeInt(parent[i]);
      out.writeLong(selfPc[i]);
      out.writeLong(fromPc[i]);
      out.writeLong(retP[i]);
      out.writeLong(fp[i]);
      out.writeBoolean(tailCalled[i]);
    }
  }

  /**
   * Reads what {@link #writeTo} wrote into this empty stack.
   *
   * @throws IOException where depths do not rise below the limit or a parent is not an open frame
   *     below
   */
  void readFrom(DataInput in, int maxDepth) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > maxDepth) {
      throw new IOException("corrupt snapshot: a stack of " + count + " frames");
    }
    int before = -1;
    for (int i = 0; i < count; i++) {
      int atDepth = in.readInt();
      int enclosing = in.readInt();
      if (atDepth <= before || atDepth >= maxDepth || enclosing < -1 || enclosing >= i) {
        throw new IOException("corrupt snapshot: frame " + i + " at depth " + atDepth);
      }
      if (enclosing >= 0 && tailCalled[enclosing]) {
        throw new IOException("corrupt snapshot: frame " + i + " lies in a finished call");
      }
      push(atDepth, enclosing, in.readLong(), in.readLong(), in.readLong(), in.readLong());
      tailCalled[i] = in.readBoolean();
      before = atDepth;
    }
  }
}
