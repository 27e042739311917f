package dev.retstack.simulation;

import dev.retstack.graph.tree.Ending;

/** An interrupt as it really came. Its time is unique in its core. */
final class TrueInterrupt {
  final long number;

  /** The innermost call that is open where it came, as far as records tell; null for none. */
  final TrueCall parent;

  final long enter;
  long exit;

  /** How long it ran itself. */
  long ran;

  Ending ending = Ending.OPEN;

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
