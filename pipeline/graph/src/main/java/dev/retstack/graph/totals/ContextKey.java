package dev.retstack.graph.totals;

import dev.retstack.graph.input.CoreKey;

/**
 * What calls are added up by: a task of a core, or the interrupts on it. Calls in interrupts belong
 * to no task.
 *
 * @param task id of the task as TASK records say it; 0 for {@link #isInterrupts} and others
 * @param instance which of the tasks of that id, from 1; {@link #INTERRUPTS} or {@link #OTHERS}
 */
public record ContextKey(CoreKey core, long task, int instance) {
  private static final int OTHERS = 0;
  private static final int INTERRUPTS = -1;

  /** Name of all interrupts of a core. */
  public static final String INTERRUPTS_NAME = "interrupts";

  public static ContextKey ofInterrupts(CoreKey core) {
    return new ContextKey(core, 0, INTERRUPTS);
  }

  /** All tasks of a core that are beyond the limit. */
  public static ContextKey ofOthers(CoreKey core) {
    return new ContextKey(core, 0, OTHERS);
  }

  /** Whether these are calls in interrupts. */
  public boolean isInterrupts() {
    return instance == INTERRUPTS;
  }

  /** Whether it is one task. */
  public boolean isTask() {
    return instance > OTHERS;
  }

  /** Names the tasks of a core, by id and instance. */
  public interface Naming {
    String name(long task, int instance);
  }

  /** Name of the context on a core with these names of tasks. */
  public String name(Naming tasks) {
    if (isInterrupts()) {
      return INTERRUPTS_NAME;
    }
    return isTask() ? tasks.name(task, instance) : "other tasks";
  }
}
