package dev.retstack.schema.codec;

import java.util.Arrays;

/**
 * A growing byte array with the number formats of the codecs. Callers reserve space first, then
 * put.
 */
public final class ByteSink {
  private byte[] bytes;
  private int size;

  public ByteSink(int capacity) {
    bytes = new byte[capacity];
  }

  /** Makes room for {@code more} bytes. */
  public void reserve(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, bytes.length * 2));
    }
  }

  public void put(int value) {
    bytes[size++] = (byte) value;
  }

  /** Unsigned LEB128 of all 64 bits: 1 to 10 bytes. */
  public void varint(long value) {
    byte[] to = bytes;
    int at = size;
    while ((value & ~0x7fL) != 0) {
      to[at++] = (byte) (value | 0x80);
      value >>>= 7;
    }
    to[at++] = (byte) value;
    size = at;
  }

  /** Zigzag, then {@link #varint}: small numbers of either sign are short. */
  public void zigzag(long value) {
    varint((value << 1) ^ (value >> 63));
  }

  /** Forgets the bytes; the room stays. */
  public void clear() {
    size = 0;
  }

  public int size() {
    return size;
  }

  public byte[] array() {
    return bytes;
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }
}
