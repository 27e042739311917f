package dev.retstack.answers.export;

/** A task, in text. */
public final class TaskText {
  private TaskText() {}

  /** Name of a task to print behind the word task: its name, or its number. */
  public static String behindTask(String name) {
    return name.startsWith("task ") ? name.substring("task ".length()) : name;
  }
}
