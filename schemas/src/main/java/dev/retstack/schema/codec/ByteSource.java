package dev.retstack.schema.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads what {@link ByteSink} wrote, from bytes that are not trusted. Every value has exactly one
 * valid form.
 */
public final class ByteSource {
  private final byte[] bytes;
  private final int end;
  private int at;

  /** Reads {@code bytes[from, to)}. */
  public ByteSource(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  /** Moves to another byte that was not read yet. */
  public void moveTo(int position) {
    at = position;
  }

  public int position() {
    return at;
  }

  public int remaining() {
    return end - at;
  }

  /** Copies the remaining bytes into {@code count} words, the first byte lowest; zeros follow. */
  public void words(long[] to, int from, int count) {
    int whole = Math.min(remaining() >>> 3, count);
    ByteBuffer.wrap(bytes, at, 8 * whole)
        .order(ByteOrder.LITTLE_ENDIAN)
        .asLongBuffer()
        .get(to, from, whole);
    Arrays.fill(to, from + whole, from + count, 0);
    for (int i = 8 * whole; i < remaining() && i < 8 * count; i++) {
      to[from + whole] |= (bytes[at + i] & 0xffL) << (8 * i);
    }
  }

  /** Next byte as 0 to 255. */
  public int get() throws CorruptChunkException {
    if (at == end) {
      throw new CorruptChunkException("payload ends at byte " + at + " inside a record");
    }
    return bytes[at++] & 0xff;
  }

  /** Refuses bytes that nothing has used. */
  public void checkEnd() throws CorruptChunkException {
    if (remaining() != 0) {
      throw new CorruptChunkException(
          remaining() + " bytes follow the last record, from byte " + at);
    }
  }

  /** Unsigned LEB128 of 64 bits, shortest form only. */
  public long varint() throws CorruptChunkException {
    int b = get();
    return b < 0x80 ? b : longVarint(b);
  }

  private long longVarint(int first) throws CorruptChunkException {
    long value = first & 0x7f;
    for (int shift = 7; ; shift += 7) {
      int b = get();
      if (shift == 63 && b > 1) {
        throw new CorruptChunkException("varint beyond 64 bits at byte " + (at - 1));
      }
      value |= (long) (b & 0x7f) << shift;
      if (b < 0x80) {
        if (b == 0) {
          throw new CorruptChunkException("overlong varint at byte " + (at - 1));
        }
        return value;
      }
    }
  }

  public long zigzag() throws CorruptChunkException {
    long value = varint();
    return (value >>> 1) ^ -(value & 1);
  }

  /** A zigzag number for the difference to a predicted value, so never 0. */
  public long departure() throws CorruptChunkException {
    long value = zigzag();
    if (value == 0) {
      throw new CorruptChunkException("field coded although it was predicted, at byte " + (at - 1));
    }
    return value;
  }
}
