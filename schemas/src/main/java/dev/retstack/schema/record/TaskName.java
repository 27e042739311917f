package dev.retstack.schema.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The name that a program gives a task, as TASK_NAME records hold it: 16 bytes in two words, the
 * first byte highest. It ends at the first byte 0.
 */
public record TaskName(long first, long second) {
  /** A task without a name. */
  public static final TaskName NONE = new TaskName(0, 0);

  /** Longest name, in bytes. */
  public static final int BYTES = 2 * Long.BYTES;

  /** A name of these bytes, cut where there are more than {@link #BYTES}. */
  public static TaskName of(byte[] name) {
    ByteBuffer words = ByteBuffer.wrap(Arrays.copyOf(name, BYTES));
    return new TaskName(words.getLong(), words.getLong());
  }

  /** The name in a TASK_NAME record. */
  public static TaskName of(RecordBatch batch, int record) {
    return new TaskName(batch.fromPc[record], batch.retP[record]);
  }

  /**
   * Appends the record that gives a task this name. The caller has made sure that there is room.
   */
  public void addTo(RecordBatch batch, long time, long task) {
    batch.add(RecordBatch.TASK_NAME, time, 0, task, first, second, 0);
  }

  /** Whether it is none. */
  public boolean isEmpty() {
    return first >>> (Long.SIZE - Byte.SIZE) == 0;
  }

  /** The name as UTF-8, with whatever characters the program chose; empty = none. */
  public String text() {
    byte[] bytes = ByteBuffer.allocate(BYTES).putLong(first).putLong(second).array();
    int length = 0;
    while (length < BYTES && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, UTF_8);
  }
}
