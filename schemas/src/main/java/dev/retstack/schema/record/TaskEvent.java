package dev.retstack.schema.record;

import java.util.Optional;

/** Why the task changes, in {@code fromPc} of a {@link RecordBatch#TASK} record. */
public enum TaskEvent {
  /** The core continues with a task that existed. */
  SWITCHED(1),
  /** The task is new: its ret_stack is empty. One with the same id is over. */
  STARTED(2),
  /** The task, which is the current one, ended, and its calls with it; task 0 follows. */
  ENDED(3);

  private final int code;

  TaskEvent(int code) {
    this.code = code;
  }

  /** As records say it. */
  public int code() {
    return code;
  }

  /** The event of a code; empty for one of a later version. */
  public static Optional<TaskEvent> of(long code) {
    for (TaskEvent event : values()) {
      if (event.code == code) {
        return Optional.of(event);
      }
    }
    return Optional.empty();
  }
}
