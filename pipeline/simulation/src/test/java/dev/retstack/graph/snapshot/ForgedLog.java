package dev.retstack.graph.snapshot;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.zip.CRC32C;

/** Makes the log of a state one whose sums are right, whatever was changed in it. */
public final class ForgedLog {
  /** Behind magic, version, rules and the next number. */
  private static final int COUNT_AT = 4 + 1 + 1 + 8;

  private static final int SUM_AT = COUNT_AT + 4;

  private ForgedLog() {}

  /** Puts the right sums into the head. */
  public static void seal(Map<String, byte[]> parts) {
    long sum = 0;
    for (Map.Entry<String, byte[]> part : parts.entrySet()) {
      sum +=
          part.getKey().equals(StateLog.HEAD) ? 0 : StateLog.hash(part.getKey(), part.getValue());
    }
    ByteBuffer head = ByteBuffer.wrap(parts.get(StateLog.HEAD).clone());
    head.putInt(COUNT_AT, parts.size() - 1).putLong(SUM_AT, sum);
    CRC32C crc = new CRC32C();
    crc.update(head.array(), 0, head.capacity() - Long.BYTES);
    head.putLong(head.capacity() - Long.BYTES, crc.getValue());
    parts.put(StateLog.HEAD, head.array());
  }
}
