package dev.retstack.graph.snapshot;

import java.io.DataOutput;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.Checksum;

/**
 * Bytes written one after the other: what {@link java.io.DataOutputStream} writes, big-endian,
 * without the streams between, into one array that grows. Not safe for use by several threads at
 * once.
 */
public final class ByteOutput implements DataOutput {
  private static final VarHandle SHORTS = view(short[].class);
  private static final VarHandle INTS = view(int[].class);
  private static final VarHandle LONGS = view(long[].class);
  private static final long HASH_MULTIPLIER = 0x9e3779b97f4a7c15L; // odd: the product can be undone
  private static final int VARINT_MAX = 10;
  private static final int LARGEST = Integer.MAX_VALUE - 8;

  private byte[] bytes;
  private int size;

  /** Begins empty, with room for this many bytes. */
  public ByteOutput(int room) {
    this.bytes = new byte[Math.max(room, Long.BYTES)];
  }

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.BIG_ENDIAN);
  }

  /** Bytes written so far. */
  public int size() {
    return size;
  }

  /** What was written; the array itself where it is full. The output is not used after this. */
  public byte[] take() {
    byte[] taken = size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
    bytes = taken;
    return taken;
  }

  /**
   * A hash of all bits of these bytes. Those that differ within one word of eight always differ.
   */
  public static long hash(byte[] bytes, long seed) {
    long h = seed ^ bytes.length;
    int at = 0;
    for (; at <= bytes.length - Long.BYTES; at += Long.BYTES) {
      h = mix(h ^ (long) LONGS.get(bytes, at));
    }
    long rest = 0;
    for (; at < bytes.length; at++) {
      rest = (rest << 8) | (bytes[at] & 0xff);
    }
    return mix(h ^ rest);
  }

  private static long mix(long word) {
    long product = word * HASH_MULTIPLIER;
    return product ^ (product >>> 32);
  }

  /** Adds what was written from {@code from} on to a checksum. */
  public void sum(Checksum checksum, int from) {
    checksum.update(bytes, from, size - from);
  }

  /** Makes room for this many more bytes. Returns their position. */
  private int room(int more) throws IOException {
    int at = size;
    if (more > bytes.length - at) {
      long needed = (long) at + more;
      if (needed > LARGEST) {
        throw new IOException("more than %d bytes in one snapshot".formatted(LARGEST));
      }
      long wanted = Math.max(needed, bytes.length + (bytes.length >> 1));
      bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, LARGEST));
    }
    size = at + more;
    return at;
  }

  /** As {@link Fields#writeVarint}. */
  void writeVarint(long number) throws IOException {
    int at = room(VARINT_MAX);
    long rest = number;
    while (rest >>> 7 != 0) {
      bytes[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[at] = (byte) rest;
    size = at + 1;
  }

  @Override
  public void write(int b) throws IOException {
    int at = room(1);
    bytes[at] = (byte) b;
  }

  @Override
  public void write(byte[] from) throws IOException {
    write(from, 0, from.length);
  }

  @Override
  public void write(byte[] from, int offset, int length) throws IOException {
    int at = room(length);
    System.arraycopy(from, offset, bytes, at, length);
  }

  @Override
  public void writeBoolean(boolean value) throws IOException {
    write(value ? 1 : 0);
  }

  @Override
  public void writeByte(int value) throws IOException {
    write(value);
  }

  @Override
  public void writeShort(int value) throws IOException {
    int at = room(Short.BYTES);
    SHORTS.set(bytes, at, (short) value);
  }

  @Override
  public void writeChar(int value) throws IOException {
    writeShort(value);
  }

  @Override
  public void writeInt(int value) throws IOException {
    int at = room(Integer.BYTES);
    INTS.set(bytes, at, value);
  }

  @Override
  public void writeLong(long value) throws IOException {
    int at = room(Long.BYTES);
    LONGS.set(bytes, at, value);
  }

  @Override
  public void writeFloat(float value) throws IOException {
    writeInt(Float.floatToIntBits(value));
  }

  @Override
  public void writeDouble(double value) throws IOException {
    writeLong(Double.doubleToLongBits(value));
  }

  @Override
  public void writeBytes(String text) throws IOException {
    write(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Override
  public void writeChars(String text) throws IOException {
    for (int i = 0; i < text.length(); i++) {
      writeChar(text.charAt(i));
    }
  }

  /** Not in any snapshot: {@link Fields#writeText} writes texts. */
  @Override
  public void writeUTF(String text) {
    throw new UnsupportedOperationException("Fields.writeText");
  }
}
