package dev.retstack.fleet.probe.task;

import java.util.List;

/**
 * How an image says which of its tasks runs. If it does not say so, tasks are known by their
 * stacks.
 *
 * @param variable symbol, or address as 0x..., of the word that is the current task, such as a
 *     pointer to its control block; empty: none
 * @param switcher function that switches tasks, and which of its arguments is the next one: {@code
 *     NAME} (the first) or {@code NAME:argN}, N from 1 on; empty: none
 * @param ends functions that end the task that enters them
 * @param handlers functions that handle interrupts, numbered from 0: what is called below them is
 *     of the interrupt
 */
public record TaskOptions(
    String variable, String switcher, List<String> ends, List<String> handlers) {
  /** Nothing is declared. */
  public static final TaskOptions NONE = new TaskOptions("", "", List.of(), List.of());

  public TaskOptions {
    ends = List.copyOf(ends);
    handlers = List.copyOf(handlers);
    if (!variable.isEmpty() && !switcher.isEmpty()) {
      throw new IllegalArgumentException(
          "tasks by variable %s and by function %s: only one of both says which task runs"
              .formatted(variable, switcher));
    }
  }

  /** True where tasks have ids that the image gives them, which may be addresses of objects. */
  public boolean givesIds() {
    return !variable.isEmpty() || !switcher.isEmpty();
  }
}
