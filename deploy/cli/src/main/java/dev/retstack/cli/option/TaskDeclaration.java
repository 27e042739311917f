package dev.retstack.cli.option;

import dev.retstack.cli.CommandException;
import dev.retstack.fleet.core.TaskOptions;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** How the image tells its tasks apart. */
public final class TaskDeclaration {
  @Option(
      names = "--task-variable",
      paramLabel = "SYMBOL|ADDRESS",
      description = {
        "The word that says which task runs, such as a pointer to its control block: tasks are named",
        "by the variables there. Without it they are told by their stacks, and counted."
      })
  private String variable = "";

  @Option(
      names = "--task-switch",
      paramLabel = "FUNCTION[:argN]",
      description =
          "Instead of it: the function that switches tasks, its N-th argument is the next.")
  private String switcher = "";

  @Option(
      names = "--task-end",
      split = ",",
      paramLabel = "FUNCTION",
      description = "Functions that end the task which enters them; may be repeated.")
  private final List<String> ends = new ArrayList<>();

  @Option(
      names = "--interrupt-handlers",
      split = ",",
      paramLabel = "FUNCTION",
      description = {
        "Functions that handle interrupts: what they call is not of the task that they interrupt.",
        "May be repeated; their interrupts are numbered from 0."
      })
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
