package dev.retstack.cli.result;

import dev.retstack.cli.command.CommandException;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.TracedTask;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.state.GraphState;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Option;

/** Which tasks of the cores are shown. */
public final class TaskOption {
  @Option(
      names = "--task",
      paramLabel = "N|NAME",
      description =
          "Show only this task, of every core that has it. N is its id, unsigned, in decimal"
              + " or in hex after 0x; NAME is its name as shown, or what the program calls it.")
  private String task = "";

  /** The tasks that are meant. */
  public TaskChoice choice() {
    return new TaskChoice(task);
  }

  /** Parameters of a pipeline's answer. */
  public Map<String, String> parameters() {
    return task.isEmpty() ? Map.of() : Map.of("task", task);
  }

  /**
   * Refuses a choice that means nothing.
   *
   * @param found whether something is left of what is shown
   */
  public void require(boolean found, GraphState state) {
    Set<String> names = new TreeSet<>();
    boolean known = found || task.isEmpty();
    for (CoreGraph core : state.cores()) {
      for (TracedTask t : core.progress().tasks()) {
        String name = core.taskName(t.id(), t.instance());
        known |= choice().has(t.id(), name);
        names.add(name);
      }
    }
    if (!known) {
      throw CommandException.badInput(
          "no task %s in this trace: it has %s".formatted(task, String.join(", ", names)));
    }
  }
}
