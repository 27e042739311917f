package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** A task, for people and programs: its id is unsigned, whatever it is an address of. */
final class TaskText {
  private TaskText() {}

  /** Its name behind the word task: what it is called, or its number. */
  static String behindTask(String name) {
    return name.startsWith("task ") ? name.substring("task ".length()) : name;
  }

  /** Its id in decimal. */
  static String id(long task) {
    return Long.toUnsignedString(task);
  }

  /** A field {@code task}: its id in hex, since JavaScript has no number for all of them. */
  static void id(JsonGenerator json, long task) throws IOException {
    Json.hex(json, "task", task);
  }
}
