package dev.retstack.schema.codec.packed;

/** Numbers of the {@code packed} layout, which {@code schemas/PACKED.md} draws. */
final class PackedLayout {
  // Streams in the order in which their lengths and bytes stand in the content. Where there are two
  // the first is for records after an entry, the second for those after an exit.
  static final int ESCAPES = 0;
  static final int SUCCESSORS = 1;
  static final int SITES = 3;
  static final int FUNCTION_PAGES = 5;
  static final int FUNCTION_BYTES = 6;
  static final int RET_PS = 7;
  static final int FPS = 8;
  static final int LONG_TIMES = 9;
  static final int FORKS = 10;
  static final int FUNCTIONS = 12;

  /** Low bytes of times, four streams by {@link #timeContext}. */
  static final int TIMES_LOW = 13;

  /** High bytes of times, four streams as long as those of the low bytes. */
  static final int TIMES_HIGH = 17;

  static final int STREAMS = 21;

  /** Streams whose length is written; the others follow from these. */
  static final int LENGTHS = TIMES_HIGH;

  // streams of a marked chunk, which holds other kinds than ENTRY, EXIT and LOST; behind all others
  static final int RUNS = STREAMS;

  // of FUNCTION records
  static final int STEPS = STREAMS + 1;
  static final int ARCS = STREAMS + 2;
  static final int NEW_ARCS = STREAMS + 3;
  static final int ARC_LOW = STREAMS + 4;
  static final int ARC_HIGH = STREAMS + 5;
  static final int ARC_LONG = STREAMS + 6;

  // of all the others
  static final int FIELD_TIMES = STREAMS + 7;
  static final int FIELD_DEPTHS = STREAMS + 8;

  /** As many streams as {@link #FIELD_COLUMNS}. */
  static final int FIELDS = STREAMS + 9;

  /** selfpc, frompc, retp, fp. */
  static final int FIELD_COLUMNS = 4;

  /** Streams of a marked chunk. */
  static final int MARKED_STREAMS = FIELDS + FIELD_COLUMNS;

  /** Lengths that a marked chunk has more. */
  static final int MARKED_LENGTHS = MARKED_STREAMS - STREAMS;

  // what an escape byte says is coded although it should follow from the records before; 0: LOST
  static final int SUCCESSOR = 1;
  static final int CALLEE = 1 << 1;
  static final int TIME = 1 << 2;
  static final int DEPTH = 1 << 3;
  static final int RET_P = 1 << 4;
  static final int FP = 1 << 5;
  static final int SELF_PC = 1 << 6;
  static final int FROM_PC = 1 << 7;

  /** Steps of FUNCTION records to a point: two to each slot, the second with a time. */
  static final int STEPS_OF_POINT = 2 * PackedArcs.SLOTS;

  /** Step to an arc that was not predicted, and with a time. */
  static final int STEP_KNOWN = STEPS_OF_POINT * (PackedArcs.RETURNS_MAX + 1);

  /** To an arc without a number. */
  static final int STEP_NEW = STEP_KNOWN + 2;

  /** A record with fields that should be 0. */
  static final int STEP_FIELDS = STEP_KNOWN + 3;

  /** Symbols below this take one byte, the others two. */
  static final int SYMBOL_BYTE_MAX = 240;

  /** Functions, and sites, that a chunk numbers at most: two bytes always hold a number. */
  static final int IDS_MAX = 4096;

  /** Symbol of a site or function that has no number yet; its address is coded. */
  static final int NEW = 0;

  /** Successor: the function returns. */
  static final int RETURN = 1;

  /** Number of the first site: 0 and {@link #RETURN} are taken. */
  static final int FIRST_SITE = 2;

  /** High byte of a time whose rest is in {@link #LONG_TIMES}. */
  static final int HIGH_LONG = 255;

  /** Content of a record at most: each of its numbers at its longest, each of its symbols. */
  static final int RECORD_BYTES_MAX = 128;

  /** Lengths of the streams at most. */
  static final int HEADER_BYTES_MAX = 5 * (LENGTHS + MARKED_LENGTHS);

  /**
   * The loops run for this many records at once: often enough that the JVM soon compiles them well.
   */
  static final int SLICE_RECORDS = 1024;

  /** Memory for up to this many records is kept from chunk to chunk. */
  static final int KEPT_RECORDS_MAX = 1 << 17;

  /** First byte of the payload: the content follows as it is. */
  static final int PLAIN = 0;

  /** First byte of the payload: its size as a varint and one zstd frame follow. */
  static final int ZSTD = 1;

  /** Bit of the first byte: the chunk holds other kinds than ENTRY, EXIT and LOST. */
  static final int MARKED = 2;

  private PackedLayout() {}

  /**
   * Which stream takes the time of a record.
   *
   * @param previous kind of the record before: ENTRY or EXIT
   * @param kind ENTRY or EXIT; that of LOST counts as ENTRY
   */
  static int timeContext(int previous, int kind) {
    return 2 * previous + kind;
  }
}
