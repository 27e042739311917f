package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Stat;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Which calls of a stack are left out for want of room: the first for which there is none, and all
 * deeper ones until it is over. Their time is their caller's.
 */
final class FrameRoom {
  private final TaskStack stack;
  private final int maxDepth;
  private final GraphListener listener;

  /** Frames from this depth on are not kept. */
  private int limit;

  FrameRoom(TaskStack stack, int maxDepth, GraphListener listener) {
    this.stack = stack;
    this.maxDepth = maxDepth;
    this.listener = listener;
    this.limit = maxDepth;
  }

  /** Frames from this depth on are not kept. */
  int limit() {
    return limit;
  }

  /** No call is left out any more: those that were are over. */
  void lift() {
    limit = maxDepth;
  }

  /** Whether the frame of an entry is left out. */
  boolean leavesOutEntry(int depth) {
    if (depth < limit) {
      boolean pushes = stack.topDepth() < depth;
      limit = pushes && stack.isFull() ? depth : maxDepth;
    }
    return isBeyond(depth);
  }

  /** Whether the frame of an exit was left out. */
  boolean leftOut(int depth) {
    if (depth < limit) {
      lift();
    }
    return isBeyond(depth);
  }

  private boolean isBeyond(int depth) {
    if (depth < limit) {
      return false;
    }
    listener.count(Stat.FRAMES_NOT_KEPT, 1);
    return true;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(limit);
  }

  /** Reads what {@link #writeTo} wrote; the stack is complete. */
  void readFrom(DataInput in) throws IOException {
    limit = in.readInt();
    if (limit <= stack.topDepth() || limit > maxDepth) {
      throw new IOException("corrupt snapshot: no frames from depth " + limit + " on");
    }
  }
}
