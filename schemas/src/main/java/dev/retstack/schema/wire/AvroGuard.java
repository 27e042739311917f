package dev.retstack.schema.wire;

import dev.retstack.schema.codec.CorruptChunkException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.util.ClassSecurityValidator;

/**
 * Checks bytes from outside before Avro's decoder reads them. What passes decodes.
 *
 * <p>This is own code because Avro's decoder has no such check. It trusts the lengths that it
 * reads, makes objects of any size, and throws many kinds of exceptions. The guard walks the bytes
 * without allocation and requires:
 *
 * <ul>
 *   <li>every number is in range and in its shortest form
 *   <li>every length ends inside the bytes
 *   <li>every union branch and enum symbol is known
 *   <li>every string is valid UTF-8
 *   <li>nothing is left over
 *   <li>the objects that will come of it stay below {@link #HEAP_BYTES_MAX}
 * </ul>
 *
 * <p>Initialising this class also tells Avro that this project's generated classes may be made from
 * data, which it refuses by default since 1.12 ({@code org.apache.avro.SERIALIZABLE_PACKAGES}).
 */
public final class AvroGuard {
  /** Objects that come of one message, in bytes of heap, roughly, at most. */
  public static final long HEAP_BYTES_MAX = 40L << 20;

  static {
    ClassSecurityValidator.setGlobal(
        ClassSecurityValidator.composite(
            ClassSecurityValidator.getGlobal(),
            type -> type.getName().startsWith("dev.retstack.schema.")));
  }

  // what a value costs on the heap beyond the bytes it was read from
  private static final int OBJECT_BYTES = 24;
  private static final int FIELD_BYTES = 8;
  private static final int STRING_BYTES = 56;

  private final byte[] bytes;
  private final int end;
  private int at;
  private long heapBytes;

  private AvroGuard(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  /** Lets Avro make this project's classes; needed before any other use of Avro. */
  public static void trustOwnClasses() {
    // the static initialiser has done it
  }

  /**
   * Accepts {@code bytes[from, to)} as exactly one datum of the schema.
   *
   * @throws CorruptChunkException with the offset and what is wrong there
   */
  public static void check(Schema schema, byte[] bytes, int from, int to)
      throws CorruptChunkException {
    AvroGuard guard = new AvroGuard(bytes, from, to);
    guard.datum(schema);
    if (guard.at != to) {
      throw guard.refused((to - guard.at) + " bytes follow the " + schema.getName());
    }
  }

  private void datum(Schema schema) throws CorruptChunkException {
    switch (schema.getType()) {
      case RECORD -> record(schema);
      case UNION -> datum(schema.getTypes().get(index("union branch", schema.getTypes().size())));
      case ENUM -> index("symbol of " + schema.getName(), schema.getEnumSymbols().size());
      case ARRAY -> array(schema.getElementType());
      case STRING -> string();
      case BYTES -> {
        int length = length();
        spend(STRING_BYTES + (long) length);
        at += length;
      }
      case INT -> {
        long value = number();
        if (value != (int) value) {
          throw refused("int of value " + value);
        }
      }
      case LONG -> number();
      case BOOLEAN -> {
        int value = next();
        if (value > 1) {
          throw refused("boolean of value " + value);
        }
      }
      case NULL -> {}
      case FLOAT -> skip(Float.BYTES);
      case DOUBLE -> skip(Double.BYTES);
      case FIXED -> skip(schema.getFixedSize());
      case MAP -> throw new IllegalArgumentException("no schema of this project has a map");
    }
  }

  private void record(Schema schema) throws CorruptChunkException {
    spend(OBJECT_BYTES + FIELD_BYTES * (long) schema.getFields().size());
    for (Schema.Field field : schema.getFields()) {
      datum(field.schema());
    }
  }

  private void array(Schema element) throws CorruptChunkException {
    spend(OBJECT_BYTES);
    for (long count = number(); count != 0; count = number()) {
      int blockEnd = -1;
      if (count < 0) {
        // a writer may state the block's size in bytes, which is marked by a negative count
        count = -count;
        int size = length();
        blockEnd = at + size;
      }
      // Avro makes room for all items of a block at once; every item takes a byte at least
      if (count < 0 || count > end - at) {
        throw refused("array block of " + count + " items");
      }
      spend(count * (OBJECT_BYTES + FIELD_BYTES));
      for (long i = 0; i < count; i++) {
        datum(element);
      }
      if (blockEnd >= 0 && at != blockEnd) {
        throw refused("array block that should end at byte " + blockEnd);
      }
    }
  }

  private void string() throws CorruptChunkException {
    int length = length();
    spend(STRING_BYTES + 2L * length);
    if (!Utf8.isValid(bytes, at, at + length)) {
      throw refused("string that is not UTF-8");
    }
    at += length;
  }

  private int index(String what, int size) throws CorruptChunkException {
    long index = number();
    if (index < 0 || index >= size) {
      throw refused(what + " " + index + " of " + size);
    }
    return (int) index;
  }

  private int length() throws CorruptChunkException {
    long length = number();
    if (length < 0 || length > end - at) {
      throw refused("length " + length + " where " + (end - at) + " bytes are left");
    }
    return (int) length;
  }

  private void skip(int count) throws CorruptChunkException {
    if (count > end - at) {
      throw refused("value of " + count + " bytes where " + (end - at) + " are left");
    }
    at += count;
  }

  /** Zigzag varint of at most 64 bits, shortest form. */
  private long number() throws CorruptChunkException {
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
    if (heapBytes > HEAP_BYTES_MAX) {
      throw refused("more than " + (HEAP_BYTES_MAX >> 20) + " MiB of objects");
    }
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
        var _ = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, to - from));
        return true;
      } catch (CharacterCodingException e) {
        return false;
      }
    }
  }
}
