package dev.retstack.simulation.model;

import dev.retstack.graph.tree.Ending;

/** An interrupt as it really came. Its time is unique in its core. */
public final class TrueInterrupt {
  public final long number;

  /** The innermost call that is open where it came, as far as records show; null for none. */
  public final TrueCall parent;

  public final long enter;
  public long exit;

  /** How long it ran itself. */
  public long ran;

  public Ending ending = Ending.OPEN;

  TrueInterrupt(long number, TrueCall parent, long enter) {
    this.number = number;
    this.parent = parent;
    this.enter = enter;
  }

  void end(long time, Ending how) {
    exit = time;
    ending = how;
  }
}
