package dev.retstack.simulation.model;

import java.util.ArrayList;
import java.util.List;

/** A task of the model program. */
public final class ModelTask {
  public final long id;
  public final int instance;

  /** The task's stack, then those of interrupts. */
  final List<ModelStack> stacks = new ArrayList<>();

  /** Time for which it ran itself. */
  public long ran;

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
