package dev.retstack.fleet.settings;

import java.util.Optional;

/**
 * Which tasks are selected: by id ({@code 2}, {@code 0x20001040}: as in TASK records; for declared
 * tasks the address of the control block), or by name with wildcards ({@code task_*}: the data
 * symbol at that address). Task 0 is what a core begins with.
 */
public final class TaskPattern {
  private final String text;
  private final Optional<Long> id;
  private final Glob name;

  private TaskPattern(String text, Optional<Long> id) {
    this.text = text;
    this.id = id;
    this.name = Glob.parse(text);
  }

  /**
   * Reads a pattern; what begins with a digit is an id.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static TaskPattern parse(String text) {
    if (text.isEmpty() || text.charAt(0) < '0' || text.charAt(0) > '9') {
      return new TaskPattern(text, Optional.empty());
    }
    try {
      long id =
          text.startsWith("0x")
              ? Long.parseUnsignedLong(text, 2, text.length(), 16)
              : Long.parseUnsignedLong(text);
      return new TaskPattern(text, Optional.of(id));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "no task: '%s'; say a number, 0x and hex digits, or a name".formatted(text), e);
    }
  }

  /**
   * True where it means a task.
   *
   * @param task as in TASK records
   * @param symbol data symbol at that address; empty where there is none
   */
  public boolean matches(long task, String symbol) {
    return id.isPresent() ? id.get() == task : name.matches(symbol);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TaskPattern that && text.equals(that.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** The text that {@link #parse} reads. */
  @Override
  public String toString() {
    return text;
  }
}
