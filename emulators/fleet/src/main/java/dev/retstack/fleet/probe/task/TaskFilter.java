package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.List;

/** Which tasks of a core record none of their calls. */
public final class TaskFilter {
  /** None. */
  public static final TaskFilter NONE = new TaskFilter(List.of(), TraceSettings.standard());

  private final List<Symbol> variables;
  private final TraceSettings settings;

  public TaskFilter(List<Symbol> variables, TraceSettings settings) {
    this.variables = variables;
    this.settings = settings;
  }

  /** True where it makes a difference which task the core is in. */
  public boolean isActive() {
    return !settings.tasks().isEmpty() || !settings.notasks().isEmpty();
  }

  /** True where a task is not meant. */
  public boolean mutes(long task) {
    return isActive() && !settings.selectsTask(task, symbol(task));
  }

  /** The variable at the address that a task has for an id; empty where there is none. */
  private String symbol(long task) {
    return variables.stream()
        .filter(s -> Long.compareUnsigned(task - s.address(), s.size()) < 0)
        .map(Symbol::name)
        .findFirst()
        .orElse("");
  }
}
