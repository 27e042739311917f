package dev.retstack.simulation;

import dev.retstack.graph.reconstruct.Ending;

/** A call as the model program really made it. Its entry time is unique in its core. */
final class TrueCall {
  final long selfPc;

  /** The call that encloses it, null for the outermost. */
  final TrueCall parent;

  /** The call that made it: the parent, or the one that tail-called it. */
  final TrueCall caller;

  final long enter;
  long exit;
  Ending ending = Ending.OPEN;

  TrueCall(long selfPc, TrueCall parent, TrueCall caller, long enter) {
    this.selfPc = selfPc;
    this.parent = parent;
    this.caller = caller;
    this.enter = enter;
  }

  void end(long time, Ending how) {
    exit = time;
    ending = how;
  }
}
