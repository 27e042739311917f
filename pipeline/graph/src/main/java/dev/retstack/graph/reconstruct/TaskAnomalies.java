package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.FrameCheck;
import dev.retstack.graph.check.Stat;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;

/** Counts what is wrong or odd in a task's records, and tells of it while that is wanted. */
final class TaskAnomalies {
  private final TaskStack stack;
  private final GraphListener listener;

  TaskAnomalies(TaskStack stack, GraphListener listener) {
    this.stack = stack;
    this.listener = listener;
  }

  void misplaced(long time, long selfPc, long expected, long fromPc) {
    report(
        AnomalyKind.MISPLACED_EXIT,
        Anomaly.Variant.PLAIN,
        time,
        selfPc,
        expected,
        selfPc,
        fromPc,
        1);
  }

  /** Compares an exit with its entry. */
  void check(ImageTraits traits, int slot, long time, long fromPc, long retP, long fp) {
    if (FrameCheck.framePointerDiffers(traits.fpCheck(), stack.fp(slot), fp)) {
      framePointerMismatch(slot, time, fp, fromPc);
    }
    if (FrameCheck.returnAddressDiffers(stack.fromPc(slot), fromPc)) {
      returnMismatch(slot, Anomaly.Variant.PLAIN, time, stack.fromPc(slot), fromPc, fromPc);
    } else if (FrameCheck.slotDiffers(traits.retpCheck(), stack.retP(slot), retP)) {
      returnMismatch(slot, Anomaly.Variant.SLOT, time, stack.retP(slot), retP, fromPc);
    }
  }

  private void framePointerMismatch(int slot, long time, long fp, long target) {
    report(
        AnomalyKind.FRAME_POINTER_MISMATCH,
        Anomaly.Variant.PLAIN,
        time,
        stack.selfPc(slot),
        stack.fp(slot),
        fp,
        target,
        1);
  }

  private void returnMismatch(
      int slot, Anomaly.Variant variant, long time, long expected, long received, long target) {
    report(
        AnomalyKind.RETURN_ADDRESS_MISMATCH,
        variant,
        time,
        stack.selfPc(slot),
        expected,
        received,
        target,
        1);
  }

  void tailCall(int slot, long time, long selfPc) {
    report(
        AnomalyKind.TAIL_CALL,
        Anomaly.Variant.PLAIN,
        time,
        stack.selfPc(slot),
        stack.fromPc(slot),
        selfPc,
        0,
        1);
  }

  /** Records are missing while so many calls are open. */
  void truncated(long time, int open) {
    report(AnomalyKind.TRUNCATED, Anomaly.Variant.PLAIN, time, top(), 0, 0, 0, open);
  }

  /** Calls are gone without their exits, or all of them by exits that cannot be seen. */
  void unwound(int from, int innermost, long time, long selfPc, int dead, int missed) {
    if (missed == dead) {
      missedExits(from, time, selfPc);
      return;
    }
    report(
        AnomalyKind.UNWOUND,
        Anomaly.Variant.PLAIN,
        time,
        stack.selfPc(innermost),
        stack.fromPc(innermost),
        selfPc,
        0,
        dead);
  }

  /**
   * All that are gone return by another slot than the hijacked one. Where others are among them, a
   * longjmp passed over all of them instead.
   */
  private void missedExits(int from, long time, long selfPc) {
    for (int slot = stack.size() - 1; slot >= from; slot--) {
      if (!stack.tailCalled(slot)) {
        report(
            AnomalyKind.MISSED_EXIT,
            Anomaly.Variant.PLAIN,
            time,
            stack.selfPc(slot),
            stack.fromPc(slot),
            selfPc,
            stack.retP(slot),
            1);
      }
    }
  }

  void smashed(long time, long selfPc, long expected, long received, long retP) {
    report(
        AnomalyKind.STACK_SMASHED,
        Anomaly.Variant.PLAIN,
        time,
        selfPc,
        expected,
        received,
        retP,
        1);
  }

  /** The core goes over to a task with another stack pointer. */
  void stackSwitch(long time, long sp) {
    long slot = stack.size() == 0 ? 0 : stack.retP(stack.size() - 1);
    report(AnomalyKind.STACK_SWITCH, Anomaly.Variant.PLAIN, time, top(), slot, sp, 0, 1);
  }

  private long top() {
    long[] innermost = stack.open(1);
    return innermost.length == 0 ? 0 : innermost[0];
  }

  private void report(
      AnomalyKind kind,
      Anomaly.Variant variant,
      long time,
      long selfPc,
      long expected,
      long received,
      long target,
      long count) {
    listener.count(kind.stat(), count);
    long place = Anomaly.place(kind, variant, expected, received, target);
    if (listener.found(kind, selfPc, place, time, count)) {
      LongList calls = LongImmutableList.of(stack.open(Anomaly.MAX_STACK));
      listener.anomaly(
          new Anomaly(kind, variant, time, selfPc, expected, received, target, count, calls));
    } else {
      listener.count(Stat.ANOMALIES_NOT_KEPT, 1);
    }
  }
}
