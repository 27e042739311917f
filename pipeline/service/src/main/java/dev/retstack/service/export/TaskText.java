package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigInteger;

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

  /** A field {@code task}: its id, a number of up to 64 bits without sign. */
  static void id(JsonGenerator json, long task) throws IOException {
    json.writeFieldName("task");
    if (task >= 0) {
      json.writeNumber(task);
    } else {
      json.writeNumber(new BigInteger(id(task)));
    }
  }
}
