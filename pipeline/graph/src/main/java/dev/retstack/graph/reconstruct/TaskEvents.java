package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What happens inside the calls of a task without a frame of its own: functions whose return is not
 * seen, system calls, marks. Of system calls one is open at a time.
 */
final class TaskEvents {
  private final TaskStack stack;
  private final TaskLosses losses;
  private final ImageTraits traits;
  private final GraphListener listener;
  private boolean inSystemCall;
  private long number;

  TaskEvents(TaskStack stack, TaskLosses losses, ImageTraits traits, GraphListener listener) {
    this.stack = stack;
    this.losses = losses;
    this.traits = traits;
    this.listener = listener;
  }

  /**
   * Depth > 0: ret_stack was full. A hijacked return address as fromPc: the innermost hijacked call
   * jumped here.
   */
  void called(long time, int depth, long selfPc, long fromPc) {
    if (depth > 0) {
      overrun(time, selfPc);
    }
    boolean known = traits.isHandler(fromPc) && !losses.isTopUnknown();
    int caller = known ? stack.size() - 1 : GraphListener.NONE;
    listener.called(innermost(), caller, selfPc, fromPc, time);
  }

  /** ret_stack was full when this function was called. */
  private void overrun(long time, long selfPc) {
    if (listener.found(AnomalyKind.OVERRUN, selfPc, 0, time, 1)) {
      LongImmutableList calls = LongImmutableList.of(stack.open(Anomaly.MAX_STACK));
      listener.anomaly(
          new Anomaly(AnomalyKind.OVERRUN, Anomaly.Variant.PLAIN, time, selfPc, 0, 0, 0, 1, calls));
    } else {
      listener.count(Stat.ANOMALIES_NOT_KEPT, 1);
    }
  }

  void systemCall(long time, long called) {
    cut(time, Ending.UNWOUND);
    inSystemCall = true;
    number = called;
    listener.systemCall(innermost(), called, time);
  }

  void systemCallEnded(long time, long ended, long result) {
    if (inSystemCall && number == ended) {
      inSystemCall = false;
      listener.systemCallEnded(result, time, Ending.RETURNED);
    } else {
      listener.count(Stat.UNKNOWN_EXITS, 1);
    }
  }

  void mark(long time, long what, long selfPc, long command) {
    listener.mark(innermost(), what, selfPc, command, time, LongImmutableList.of(known()));
  }

  /** The innermost open calls, none where records are missing since they were seen. */
  long[] known() {
    return losses.isPending() ? new long[0] : stack.open(Anomaly.MAX_STACK);
  }

  /** A system call that is open has no end of its own. */
  void cut(long time, Ending ending) {
    if (inSystemCall) {
      inSystemCall = false;
      listener.systemCallEnded(0, time, ending);
    }
  }

  /** Whether a system call is open. */
  boolean inSystemCall() {
    return inSystemCall;
  }

  /** For another stack. */
  void clear() {
    inSystemCall = false;
    number = 0;
  }

  /** Slot of the innermost open call, or none where that is unknown. */
  int innermost() {
    if (losses.isTopUnknown()) {
      return GraphListener.NONE;
    }
    int top = stack.size() - 1;
    return top >= 0 && stack.tailCalled(top) ? stack.parent(top) : top;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeBoolean(inSystemCall);
    out.writeLong(number);
  }

  void readFrom(DataInput in) throws IOException {
    inSystemCall = in.readBoolean();
    number = in.readLong();
  }
}
