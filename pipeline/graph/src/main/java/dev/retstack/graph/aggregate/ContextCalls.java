package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.StackContext;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** What is added up for the calls that are open on one ret_stack, and where they stand in trees. */
final class ContextCalls {
  final OpenCalls calls = new OpenCalls();
  final TreeLosses losses;
  final OpenSystemCall systemCall = new OpenSystemCall();

  /** Task of the rows that stand in no other: its id and instance. */
  final long task;

  final int instance;

  /** Whether it is an interrupt's. */
  final boolean interrupt;

  /** Row that tells that the task is switched out, or none. */
  int switchRow = CallTreeLog.NONE;

  ContextCalls(CallTreeLog tree, long task, int instance, boolean interrupt) {
    this.losses = new TreeLosses(tree, task, instance);
    this.task = task;
    this.instance = instance;
    this.interrupt = interrupt;
  }

  static ContextCalls of(CallTreeLog tree, StackContext context) {
    return new ContextCalls(
        tree, context.task().id(), context.task().instance(), context.isInterrupt());
  }

  void writeTo(DataOutput out, int slots) throws IOException {
    calls.writeTo(out, slots);
    losses.writeTo(out);
    systemCall.writeTo(out);
    out.writeInt(switchRow);
  }

  /** Reads what stands for no stack. */
  void readNone(DataInput in, int rows) throws IOException {
    calls.readFrom(in, 0, 0, null, null);
    losses.readFrom(in, 0, CallTreeLog.NONE);
    systemCall.readFrom(in, rows);
    switchRow = Fields.readRow(in, rows);
  }

  void readFrom(
      DataInput in, StackContext context, CallProfile written, CallProfile profile, int rows)
      throws IOException {
    calls.readFrom(in, context.slots(), context.capacity(), written, profile);
    int last = CallTreeLog.NONE;
    for (int slot = 0; slot < context.slots(); slot++) {
      last = Math.max(last, calls.treeCall(slot));
      if (calls.treeCall(slot) < CallTreeLog.NONE || calls.treeCall(slot) >= rows) {
        throw new IOException("corrupt snapshot: an open call is not in the tree");
      }
    }
    losses.readFrom(in, context.holes(), last);
    systemCall.readFrom(in, rows);
    switchRow = Fields.readRow(in, rows);
  }
}
