package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.fleet.probe.task.TaskOptions;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** How the tasks of an image are distinguished. */
public final class TaskDeclaration {
  @Option(
      names = "--task-variable",
      paramLabel = "SYMBOL|ADDRESS",
      description =
          "The variable that says which task runs, such as a pointer to its control block. A"
              + " task is named after the variable to which it points. Without this option, tasks"
              + " are distinguished by their stacks and counted.")
  private String variable = "";

  @Option(
      names = "--task-switch",
      paramLabel = "FUNCTION[:argN]",
      description =
          "Instead of --task-variable: the function that switches tasks; its N-th argument is"
              + " the next task.")
  private String switcher = "";

  @Option(
      names = "--task-end",
      split = ",",
      paramLabel = "FUNCTION",
      description = "Functions that end the task that enters them; may be repeated.")
  private final List<String> ends = new ArrayList<>();

  @Option(
      names = "--interrupt-handlers",
      split = ",",
      paramLabel = "FUNCTION",
      description =
          "Functions that handle interrupts: what they call does not belong to the"
              + " interrupted task. May be repeated; their interrupts are numbered from 0.")
  private final List<String> handlers = new ArrayList<>();

  /**
   * What was said.
   *
   * @throws CommandException where it makes no sense
   */
  TaskOptions options() {
    try {
      return new TaskOptions(variable, switcher, ends, handlers);
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }
}
