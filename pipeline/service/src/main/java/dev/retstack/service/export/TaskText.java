package dev.retstack.service.export;

/** A task, for people. */
final class TaskText {
  private TaskText() {}

  /** Its name behind the word task: what it is called, or its number. */
  static String behindTask(String name) {
    return name.startsWith("task ") ? name.substring("task ".length()) : name;
  }
}
