package dev.retstack.graph.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.zip.CRC32C;

/** The head of a state as bytes: magic, version byte, body, CRC-32C of everything before it. */
public final class StateHead {
  private static final int MAGIC = 0x72677330;
  private static final int BODY_AT = Integer.BYTES + 1;
  private static final int ROOM = 1 << 12;

  private StateHead() {}

  /** Begins a head; the body is written next. */
  public static ByteOutput begin(int version) throws IOException {
    ByteOutput head = new ByteOutput(ROOM);
    head.writeInt(MAGIC);
    head.writeByte(version);
    return head;
  }

  /** Ends a head, which is not written after this. */
  public static byte[] end(ByteOutput head) throws IOException {
    CRC32C crc = new CRC32C();
    head.sum(crc, 0);
    head.writeLong(crc.getValue());
    return head.take();
  }

  /**
   * The body of a head.
   *
   * @throws IOException where it is of another version, or changed in any bit
   */
  public static ByteInput body(byte[] head, int version) throws IOException {
    int found = versionOf(head).orElseThrow(() -> new IOException("corrupt state: no head"));
    if (found != version) {
      throw new IOException(
          "state of version %d, this program reads version %d".formatted(found, version));
    }
    int end = head.length - Long.BYTES;
    CRC32C crc = new CRC32C();
    crc.update(head, 0, Math.max(0, end));
    if (end < BODY_AT || ByteBuffer.wrap(head).getLong(end) != crc.getValue()) {
      throw new IOException("corrupt state: the checksum of its head differs");
    }
    return new ByteInput(head, BODY_AT, end - BODY_AT);
  }

  /** The version of a state, by the first bytes of its head; empty where they do not begin one. */
  public static OptionalInt versionOf(byte[] head) {
    ByteBuffer in = ByteBuffer.wrap(head);
    return in.remaining() > Integer.BYTES && in.getInt() == MAGIC
        ? OptionalInt.of(in.get() & 0xff)
        : OptionalInt.empty();
  }
}
