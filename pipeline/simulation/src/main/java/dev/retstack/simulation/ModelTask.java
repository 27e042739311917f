package dev.retstack.simulation;

import java.util.ArrayList;
import java.util.List;

/** A task of the model program. */
final class ModelTask {
  final long id;
  final int instance;

  /** Its own stack, then those of interrupts. */
  final List<ModelStack> stacks = new ArrayList<>();

  /** Time for which it ran itself. */
  long ran;

  /** When it was switched out. */
  long out;

  ModelTask(long id, int instance) {
    this.id = id;
    this.instance = instance;
  }

  ModelStack top() {
    return stacks.getLast();
  }
}
