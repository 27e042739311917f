package dev.retstack.service.export;

/** A task, in text. */
public final class TaskText {
  private TaskText() {}

  /** Its name behind the word task: what it is called, or its number. */
  public static String behindTask(String name) {
    return name.startsWith("task ") ? name.substring("task ".length()) : name;
  }
}
