package dev.retstack.graph.calls;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ImageTraits;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;

/** Counts what is wrong in the records of one stack, and reports it while there is room. */
final class StackAnomalies {
  private final Frames frames;
  private final CallAccounts accounts;

  StackAnomalies(Frames frames, CallAccounts accounts) {
    this.frames = frames;
    this.accounts = accounts;
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

  /**
   * Compares an exit with its entry: the frame pointer if the convention gives it a meaning, the
   * return address, and the slot if the stack pointer predicts it exactly.
   */
  void check(ImageTraits traits, int slot, long time, long fromPc, long retP, long fp) {
    if (traits.fpCheck() && frames.fp(slot) != fp) {
      framePointerMismatch(slot, time, fp, fromPc);
    }
    if (frames.fromPc(slot) != fromPc) {
      returnMismatch(slot, Anomaly.Variant.PLAIN, time, frames.fromPc(slot), fromPc, fromPc);
    } else if (traits.retpCheck() && frames.retP(slot) != retP) {
      returnMismatch(slot, Anomaly.Variant.SLOT, time, frames.retP(slot), retP, fromPc);
    }
  }

  private void framePointerMismatch(int slot, long time, long fp, long target) {
    report(
        AnomalyKind.FRAME_POINTER_MISMATCH,
        Anomaly.Variant.PLAIN,
        time,
        frames.selfPc(slot),
        frames.fp(slot),
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
        frames.selfPc(slot),
        expected,
        received,
        target,
        1);
  }

  /** Reports missing records while {@code open} calls are open. */
  void truncated(long time, int open) {
    report(AnomalyKind.TRUNCATED, Anomaly.Variant.PLAIN, time, top(), 0, 0, 0, open);
  }

  /**
   * Calls are gone without their exits. Where all of them return by another slot than the hijacked
   * one, their exits were missed. Where others are among them, an exception or a longjmp passed
   * over all of them, as an ordinary program does.
   */
  void unwound(int from, long time, long selfPc, int dead, int missed) {
    if (missed < dead) {
      accounts.unwound(top(), time, dead);
      return;
    }
    for (int slot = frames.size() - 1; slot >= from; slot--) {
      if (!frames.hasEnded(slot)) {
        report(
            AnomalyKind.MISSED_EXIT,
            Anomaly.Variant.PLAIN,
            time,
            frames.selfPc(slot),
            frames.fromPc(slot),
            selfPc,
            frames.retP(slot),
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

  /** ret_stack was full when this function was called: the chunk counts it. */
  void overrun(long time, long selfPc) {
    record(AnomalyKind.OVERRUN, Anomaly.Variant.PLAIN, time, selfPc, 0, 0, 0, 1, 0);
  }

  private long top() {
    long[] innermost = frames.open(1);
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
    accounts.count(kind.stat(), count);
    long place = Anomaly.place(kind, variant, expected, received, target);
    record(kind, variant, time, selfPc, expected, received, target, count, place);
  }

  private void record(
      AnomalyKind kind,
      Anomaly.Variant variant,
      long time,
      long selfPc,
      long expected,
      long received,
      long target,
      long count,
      long place) {
    if (accounts.found(kind, selfPc, place, time, count)) {
      LongList calls = LongImmutableList.of(frames.open(Anomaly.MAX_STACK));
      accounts.anomaly(
          new Anomaly(kind, variant, time, selfPc, expected, received, target, count, calls));
    } else {
      accounts.count(Stat.ANOMALIES_NOT_KEPT, 1);
    }
  }
}
