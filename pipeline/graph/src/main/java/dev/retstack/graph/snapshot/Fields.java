package dev.retstack.graph.snapshot;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Fields of variable size, with limits that hold before anything is allocated. */
public final class Fields {
  private static final int MAX_TEXT_BYTES = 1 << 20;

  /** More than a message of the images topic has room for. */
  private static final int MAX_LONGS = 1 << 21;

  private Fields() {}

  /** Writes a text of at most 1 MiB of UTF-8. */
  public static void writeText(DataOutput out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_TEXT_BYTES) {
      throw new IOException("text of " + bytes.length + " bytes is too long for a snapshot");
    }
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /** Reads what {@link #writeText} wrote. */
  public static String readText(DataInput in) throws IOException {
    byte[] bytes = new byte[readCount(in, MAX_TEXT_BYTES, "bytes of text")];
    in.readFully(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Writes a list of at most two million numbers. */
  public static void writeLongs(DataOutput out, LongList numbers) throws IOException {
    if (numbers.size() > MAX_LONGS) {
      throw new IOException("list of " + numbers.size() + " numbers is too long for a snapshot");
    }
    out.writeInt(numbers.size());
    for (int i = 0; i < numbers.size(); i++) {
      out.writeLong(numbers.getLong(i));
    }
  }

  /** Reads what {@link #writeLongs} wrote. */
  public static LongList readLongs(DataInput in) throws IOException {
    int count = readCount(in, MAX_LONGS, "numbers");
    LongArrayList numbers = new LongArrayList();
    for (int i = 0; i < count; i++) {
      numbers.add(in.readLong());
    }
    return numbers;
  }

  /** Writes 64 bits, unsigned, 7 to the byte and the lowest first: small numbers are short. */
  public static void writeVarint(DataOutput out, long number) throws IOException {
    if (out instanceof ByteOutput bytes) {
      bytes.writeVarint(number);
      return;
    }
    long rest = number;
    while (rest >>> 7 != 0) {
      out.writeByte((int) rest | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  /** Reads what {@link #writeVarint} wrote. */
  public static long readVarint(DataInput in) throws IOException {
    long number = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = in.readUnsignedByte();
      number |= (long) (next & 0x7f) << shift;
      if (next < 0x80) {
        return number;
      }
    }
    throw new IOException("corrupt snapshot: a number of more than 64 bits");
  }

  /**
   * Reads a count.
   *
   * @throws IOException where it is negative or above {@code max}
   */
  public static int readCount(DataInput in, int max, String what) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > max) {
      throw new IOException("corrupt snapshot: " + count + " " + what + ", at most " + max);
    }
    return count;
  }

  /**
   * Reads the number of a row, -1 for none.
   *
   * @throws IOException where there is no such row
   */
  public static int readRow(DataInput in, int rows) throws IOException {
    int row = in.readInt();
    if (row < -1 || row >= rows) {
      throw new IOException("corrupt snapshot: row " + row + " of a tree of " + rows);
    }
    return row;
  }

  /** Reads the name of an enum constant. */
  public static <E extends Enum<E>> E readEnum(DataInput in, Class<E> type) throws IOException {
    String name = readText(in);
    try {
      return Enum.valueOf(type, name);
    } catch (IllegalArgumentException e) {
      throw new IOException("corrupt snapshot: no " + type.getSimpleName() + " " + name, e);
    }
  }
}
