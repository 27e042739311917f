package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

import java.util.Arrays;

/**
 * Packs records field by field, a stream for each, as differences to the last record of the kind.
 * {@link PackedFieldsDecoder} is its mirror.
 */
final class PackedFieldsEncoder {
  private final long[] last = new long[RecordBatch.KINDS * FIELD_COLUMNS];
  private final PackedStreams streams;

  PackedFieldsEncoder(PackedStreams streams) {
    this.streams = streams;
  }

  void reset() {
    Arrays.fill(last, 0);
  }

  void record(RecordBatch batch, int i) {
    ByteSink times = streams.sinks[FIELD_TIMES];
    times.reserve(10);
    times.varint(batch.time[i] - (i == 0 ? 0 : batch.time[i - 1]));
    streams.number(FIELD_DEPTHS, batch.depth[i]);
    int column = batch.kind[i] * FIELD_COLUMNS;
    put(0, column, batch.selfPc[i]);
    put(1, column, batch.fromPc[i]);
    put(2, column, batch.retP[i]);
    put(3, column, batch.fp[i]);
  }

  private void put(int number, int column, long value) {
    streams.number(FIELDS + number, value - last[column + number]);
    last[column + number] = value;
  }
}
