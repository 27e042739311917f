package dev.retstack.schema.record;

/**
 * What the depth of a {@linkplain RecordBatch#VALUES VALUES} record says of its values: bits 0-7
 * the index of the first, bits 8-10 how many there are, bits 11-14 how to show them.
 */
public final class ValuesDepth {
  /** How to show the values is not said. */
  public static final int AUTO = 0;

  /** Signed decimal. */
  public static final int SIGNED = 1;

  /** Unsigned decimal. */
  public static final int UNSIGNED = 2;

  /** Hexadecimal. */
  public static final int HEX = 3;

  /** An error by its number, negative as system calls return it; else signed. */
  public static final int ERRNO = 4;

  /** Values of one record at most. */
  public static final int VALUES_MAX = 4;

  /** Index of a value at most. */
  public static final int INDEX_MAX = 0xff;

  private static final int COUNT_SHIFT = 8;
  private static final int COUNT_MASK = 7;
  private static final int FORMAT_SHIFT = 11;
  private static final int FORMAT_MASK = 15;

  private ValuesDepth() {}

  /**
   * The depth of a record.
   *
   * @param first index of the first value
   * @param count values in the record, at least 1
   * @param format such as {@link #HEX}
   */
  public static int of(int first, int count, int format) {
    if (first < 0 || first > INDEX_MAX || count < 1 || count > VALUES_MAX) {
      throw new IllegalArgumentException(
          "%d values from %d on: 1 to %d, from 0 to %d"
              .formatted(count, first, VALUES_MAX, INDEX_MAX));
    }
    return first | count << COUNT_SHIFT | (format & FORMAT_MASK) << FORMAT_SHIFT;
  }

  /** Index of the first value. */
  public static int first(int depth) {
    return depth & INDEX_MAX;
  }

  /** How many values; 0 where it is not said. */
  public static int count(int depth) {
    return Math.min(depth >>> COUNT_SHIFT & COUNT_MASK, VALUES_MAX);
  }

  /** How to show them; {@link #AUTO} for what this version does not know. */
  public static int format(int depth) {
    int format = depth >>> FORMAT_SHIFT & FORMAT_MASK;
    return format > ERRNO ? AUTO : format;
  }
}
