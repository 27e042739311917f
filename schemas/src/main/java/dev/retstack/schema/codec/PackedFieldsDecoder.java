package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

import java.util.Arrays;

/** Unpacks records field by field; mirror of {@link PackedFieldsEncoder}. */
final class PackedFieldsDecoder {
  private final long[] last = new long[RecordBatch.KINDS * FIELD_COLUMNS];
  private final PackedSource source;

  PackedFieldsDecoder(PackedSource source) {
    this.source = source;
  }

  void reset() {
    Arrays.fill(last, 0);
  }

  /** Appends a record of this kind. */
  void record(byte kind, RecordBatch into) throws CorruptChunkException {
    int size = into.size();
    long time = (size == 0 ? 0 : into.time[size - 1]) + source.stream(FIELD_TIMES).varint();
    ByteSource depths = source.stream(FIELD_DEPTHS);
    long depth = depths.zigzag();
    if (depth != (int) depth) {
      throw new CorruptChunkException(
          "depth " + depth + " beyond 32 bits at byte " + depths.position());
    }
    int column = kind * FIELD_COLUMNS;
    long selfPc = next(0, column);
    long fromPc = next(1, column);
    long retP = next(2, column);
    long fp = next(3, column);
    into.add(kind, time, (int) depth, selfPc, fromPc, retP, fp);
  }

  private long next(int number, int column) throws CorruptChunkException {
    return last[column + number] += source.stream(FIELDS + number).zigzag();
  }
}
