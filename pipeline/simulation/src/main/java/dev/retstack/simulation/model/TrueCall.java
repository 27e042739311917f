package dev.retstack.simulation.model;

import dev.retstack.graph.tree.Ending;

/** A call as the model program really made it. Its entry time is unique in its core. */
public final class TrueCall {
  public final long selfPc;

  /** The call that encloses it, null for the outermost. */
  public final TrueCall parent;

  /** The call that made it: the parent, or the one that tail-called it. */
  public final TrueCall caller;

  public final long enter;

  /** The task that made it, and which of those of that id. */
  public final long task;

  public final int instance;

  /** The interrupt it was made in, null for none. */
  public final TrueInterrupt interrupt;

  /** Time for which its task was switched out. */
  long away;

  /** Time for which interrupts ran on top of it. */
  long interrupted;

  public long exit;
  public Ending ending = Ending.OPEN;

  TrueCall(
      long selfPc,
      TrueCall parent,
      TrueCall caller,
      long enter,
      long task,
      int instance,
      TrueInterrupt interrupt) {
    this.task = task;
    this.instance = instance;
    this.interrupt = interrupt;
    this.selfPc = selfPc;
    this.parent = parent;
    this.caller = caller;
    this.enter = enter;
  }

  /** How long it ran, with the calls below it. */
  public long ran() {
    return exit - enter - away - interrupted;
  }

  void end(long time, Ending how) {
    exit = time;
    ending = how;
  }
}
