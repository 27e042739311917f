package dev.retstack.graph.snapshot;

import java.io.DataInput;
import java.io.EOFException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads from an array what {@link ByteOutput} wrote: what {@link java.io.DataInputStream} reads,
 * big-endian, without the streams between. A read behind the end is an {@link EOFException}. Not
 * safe for use by several threads at once.
 */
public final class ByteInput implements DataInput {
  private static final VarHandle SHORTS = view(short[].class);
  private static final VarHandle INTS = view(int[].class);
  private static final VarHandle LONGS = view(long[].class);

  private final byte[] bytes;
  private final int end;
  private int at;

  /** Reads all of these bytes, which are not copied. */
  public ByteInput(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  /** Reads these of the bytes, which are not copied. */
  public ByteInput(byte[] bytes, int from, int length) {
    this.bytes = bytes;
    this.at = from;
    this.end = from + length;
  }

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.BIG_ENDIAN);
  }

  /** Index in the array of what is read next. */
  int position() {
    return at;
  }

  /** Bytes not read yet. */
  public int remaining() {
    return end - at;
  }

  private int next(int length) throws EOFException {
    int from = at;
    if (length > end - from) {
      throw new EOFException("the snapshot ends within a field");
    }
    at = from + length;
    return from;
  }

  @Override
  public void readFully(byte[] to) throws EOFException {
    readFully(to, 0, to.length);
  }

  @Override
  public void readFully(byte[] to, int offset, int length) throws EOFException {
    System.arraycopy(bytes, next(length), to, offset, length);
  }

  @Override
  public int skipBytes(int count) {
    int skipped = Math.clamp(count, 0, end - at);
    at += skipped;
    return skipped;
  }

  @Override
  public boolean readBoolean() throws EOFException {
    return readByte() != 0;
  }

  @Override
  public byte readByte() throws EOFException {
    return bytes[next(1)];
  }

  @Override
  public int readUnsignedByte() throws EOFException {
    return readByte() & 0xff;
  }

  @Override
  public short readShort() throws EOFException {
    return (short) SHORTS.get(bytes, next(Short.BYTES));
  }

  @Override
  public int readUnsignedShort() throws EOFException {
    return readShort() & 0xffff;
  }

  @Override
  public char readChar() throws EOFException {
    return (char) readShort();
  }

  @Override
  public int readInt() throws EOFException {
    return (int) INTS.get(bytes, next(Integer.BYTES));
  }

  @Override
  public long readLong() throws EOFException {
    return (long) LONGS.get(bytes, next(Long.BYTES));
  }

  @Override
  public float readFloat() throws EOFException {
    return Float.intBitsToFloat(readInt());
  }

  @Override
  public double readDouble() throws EOFException {
    return Double.longBitsToDouble(readLong());
  }

  /** Not in any snapshot. */
  @Override
  public String readLine() {
    throw new UnsupportedOperationException("Fields.readText");
  }

  /** Not in any snapshot: {@link Fields#readText} reads texts. */
  @Override
  public String readUTF() {
    throw new UnsupportedOperationException("Fields.readText");
  }
}
