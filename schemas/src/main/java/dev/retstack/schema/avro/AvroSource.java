package dev.retstack.schema.avro;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.codec.CorruptChunkException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * Reads records from bytes from outside, and trusts nothing in them.
 *
 * <p>This is own code because Avro's decoder trusts the lengths that it reads, makes objects of any
 * size, and throws many kinds of exceptions. It also needs the schema, whose JSON takes longer to
 * parse than a small trace to read. Here the code of each record reads its fields, and requires:
 *
 * <ul>
 *   <li>every number is in range and in its shortest form
 *   <li>every length ends inside the bytes
 *   <li>every union branch and enum symbol is known
 *   <li>every string is valid UTF-8
 *   <li>nothing is left over
 *   <li>the objects that come of it stay below {@link #HEAP_BYTES_MAX}
 * </ul>
 */
public final class AvroSource {
  /** Objects that come of one message, in bytes of heap, roughly, at most. */
  public static final long HEAP_BYTES_MAX = 64L << 20;

  /** Objects for each byte of a message that is larger, in bytes of heap: names take the most. */
  private static final int GROWTH_MAX = 16;

  /** What a record, a list or an item of one costs on the heap, without what it holds. */
  private static final int OBJECT_BYTES = 24;

  private static final int FIELD_BYTES = 8;
  private static final int STRING_BYTES = 56;

  /** Heap that an item of a list is granted, beside what it holds: all of a number. */
  public static final int ITEM_BYTES = OBJECT_BYTES + FIELD_BYTES;

  private static final byte[] NOTHING = {};

  private final byte[] bytes;
  private final boolean keep;
  private final long heapBytesMax;
  private final int end;
  private int at;
  private long heapBytes;

  private AvroSource(byte[] bytes, int from, int to, boolean keep, long heapBytesMax) {
    this.bytes = bytes;
    this.heapBytesMax = heapBytesMax;
    this.at = from;
    this.end = to;
    this.keep = keep;
  }

  /**
   * Reads {@code bytes[from, to)}, which are exactly one record.
   *
   * @param record gets the values
   * @throws CorruptChunkException with the offset and what is wrong there
   */
  public static <T extends AvroRecord> T read(T record, byte[] bytes, int from, int to)
      throws CorruptChunkException {
    return new AvroSource(bytes, from, to, true, HEAP_BYTES_MAX).all(record);
  }

  /**
   * Reads bytes for which the caller has made room, and which are exactly one record.
   *
   * @param record gets the values
   * @throws CorruptChunkException as {@link #read}, but objects may also take 16 times the bytes
   */
  public static <T extends AvroRecord> T readAll(T record, byte[] bytes)
      throws CorruptChunkException {
    long most = Math.max(HEAP_BYTES_MAX, (long) GROWTH_MAX * bytes.length);
    return new AvroSource(bytes, 0, bytes.length, true, most).all(record);
  }

  /**
   * Accepts what {@link #read} accepts, without copies of texts and bytes.
   *
   * @param record of the type that is expected; what it holds then is of no use
   */
  public static void check(AvroRecord record, byte[] bytes, int from, int to)
      throws CorruptChunkException {
    var _ = new AvroSource(bytes, from, to, false, HEAP_BYTES_MAX).all(record);
  }

  private <T extends AvroRecord> T all(T record) throws CorruptChunkException {
    record.read(this);
    if (at != end) {
      throw refused((end - at) + " bytes follow the " + record.getClass().getSimpleName());
    }
    return record;
  }

  /** Begins a record of this many fields. */
  public void object(int fields) throws CorruptChunkException {
    spend(recordBytes(fields));
  }

  public <T extends AvroRecord> T record(T record) throws CorruptChunkException {
    record.read(this);
    return record;
  }

  /** Takes the branch of a union of null and another type. */
  public boolean isNull() throws CorruptChunkException {
    return index("union branch", 2) == 0;
  }

  public <E> E symbol(String type, E[] symbols) throws CorruptChunkException {
    return symbols[index("symbol of " + type, symbols.length)];
  }

  public ByteBuffer bytesValue() throws CorruptChunkException {
    int length = length();
    spend(STRING_BYTES + (long) length);
    at += length;
    return ByteBuffer.wrap(keep ? Arrays.copyOfRange(bytes, at - length, at) : NOTHING);
  }

  public int intValue() throws CorruptChunkException {
    long value = longValue();
    if (value != (int) value) {
      throw refused("int of value " + value);
    }
    return (int) value;
  }

  public boolean booleanValue() throws CorruptChunkException {
    int value = next();
    if (value > 1) {
      throw refused("boolean of value " + value);
    }
    return value == 1;
  }

  private interface Item<T> {
    T take() throws CorruptChunkException;
  }

  public <T extends AvroRecord> List<T> records(Supplier<T> type) throws CorruptChunkException {
    return list(() -> record(type.get()));
  }

  public List<String> strings() throws CorruptChunkException {
    return list(this::stringValue);
  }

  public List<Integer> ints() throws CorruptChunkException {
    return list(this::intValue);
  }

  public List<Long> longs() throws CorruptChunkException {
    return list(this::longValue);
  }

  private <T> List<T> list(Item<T> item) throws CorruptChunkException {
    spend(OBJECT_BYTES);
    List<T> list = new ArrayList<>(0);
    for (long count = longValue(); count != 0; count = longValue()) {
      int blockEnd = -1;
      if (count < 0) {
        // a writer may state the block's size in bytes, which is marked by a negative count
        count = -count;
        int size = length();
        blockEnd = at + size;
      }
      // every item takes a byte at least
      if (count < 0 || count > end - at) {
        throw refused("array block of " + count + " items");
      }
      spend(count * ITEM_BYTES);
      for (long i = 0; i < count; i++) {
        list.add(item.take());
      }
      if (blockEnd >= 0 && at != blockEnd) {
        throw refused("array block that should end at byte " + blockEnd);
      }
    }
    return list;
  }

  public String stringValue() throws CorruptChunkException {
    int length = length();
    spend(textBytes(length));
    if (!Utf8.isValid(bytes, at, at + length)) {
      throw refused("string that is not UTF-8");
    }
    at += length;
    return keep ? new String(bytes, at - length, length, UTF_8) : "";
  }

  private int index(String what, int size) throws CorruptChunkException {
    long index = longValue();
    if (index < 0 || index >= size) {
      throw refused(what + " " + index + " of " + size);
    }
    return (int) index;
  }

  private int length() throws CorruptChunkException {
    long length = longValue();
    if (length < 0 || length > end - at) {
      throw refused("length " + length + " where " + (end - at) + " bytes are left");
    }
    return (int) length;
  }

  /** Zigzag varint of at most 64 bits, shortest form. */
  public long longValue() throws CorruptChunkException {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      int b = next();
      if (shift == 63 && b > 1) {
        throw refused("number beyond 64 bits");
      }
      value |= (long) (b & 0x7f) << shift;
      if (b < 0x80) {
        if (b == 0 && shift > 0) {
          throw refused("overlong number");
        }
        return (value >>> 1) ^ -(value & 1);
      }
    }
  }

  private int next() throws CorruptChunkException {
    if (at == end) {
      throw refused("end of data inside a value");
    }
    return bytes[at++] & 0xff;
  }

  private void spend(long more) throws CorruptChunkException {
    heapBytes += more;
    if (heapBytes > heapBytesMax) {
      throw refused("more than " + (heapBytesMax >> 20) + " MiB of objects");
    }
  }

  /** Heap that a record is granted, beside texts and other records in its fields. */
  public static long recordBytes(int fields) {
    return OBJECT_BYTES + FIELD_BYTES * (long) fields;
  }

  /** Heap that a text is granted, by its length in bytes. */
  public static long textBytes(int length) {
    return STRING_BYTES + 2L * length;
  }

  private CorruptChunkException refused(String what) {
    return new CorruptChunkException("Avro data at byte " + at + ": " + what);
  }

  /**
   * Strict UTF-8: Java's string constructor replaces what is malformed, which would hide a change.
   */
  private static final class Utf8 {
    private Utf8() {}

    static boolean isValid(byte[] bytes, int from, int to) {
      for (int i = from; i < to; i++) {
        if (bytes[i] < 0) {
          return decodes(bytes, i, to);
        }
      }
      return true;
    }

    private static boolean decodes(byte[] bytes, int from, int to) {
      try {
        var _ = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, to - from));
        return true;
      } catch (CharacterCodingException e) {
        return false;
      }
    }
  }
}
