package dev.retstack.simulation.model;

import java.util.ArrayList;
import java.util.List;

/** A stack of the model program: a task's own, or that of an interrupt, with its ret_stack. */
final class ModelStack {
  /**
   * A live activation: its call (null where it runs untraced), its slot, what the slot holds, and
   * its stack pointer.
   */
  static final class Activation {
    TrueCall call;
    final long slot;
    long held;
    final long sp;

    Activation(TrueCall call, long slot, long held, long sp) {
      this.call = call;
      this.slot = slot;
      this.held = held;
      this.sp = sp;
    }
  }

  final long bottom;
  final ModelTracer tracer;
  final TrueInterrupt interrupt;
  final List<Activation> live = new ArrayList<>();

  /** Calls that a longjmp left; nobody has noticed yet. */
  final List<TrueCall> abandoned = new ArrayList<>();

  ModelStack(long bottom, ModelTracer tracer, TrueInterrupt interrupt) {
    this.bottom = bottom;
    this.tracer = tracer;
    this.interrupt = interrupt;
  }

  /** Calls that have not ended as far as records show. */
  List<TrueCall> open() {
    List<TrueCall> open = new ArrayList<>(abandoned);
    for (Activation a : live) {
      if (a.call != null) {
        open.add(a.call);
      }
    }
    return open;
  }

  /** The innermost of them, null for none. */
  TrueCall innermost() {
    TrueCall innermost = null;
    for (TrueCall call : open()) {
      innermost = innermost == null || call.enter > innermost.enter ? call : innermost;
    }
    return innermost;
  }
}
