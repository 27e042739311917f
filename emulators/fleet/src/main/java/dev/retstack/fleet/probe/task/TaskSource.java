package dev.retstack.fleet.probe.task;

import java.util.OptionalLong;

/** What an image says of the task that runs. */
interface TaskSource {
  /** Says nothing: tasks are distinguished by their stacks. */
  TaskSource NONE = OptionalLong::empty;

  /** The task that runs, as records name it; empty where nothing is said, or not yet. */
  OptionalLong now();

  /**
   * True where {@link #now} is what a function was called with that switches stacks only later, and
   * that other ways to switch do not call: then a stack that is known says more.
   */
  default boolean isAhead() {
    return false;
  }
}
