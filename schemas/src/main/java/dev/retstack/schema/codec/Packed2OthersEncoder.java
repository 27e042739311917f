package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;

/**
 * Packs the records of a chunk that are not of the graph: where they stand, and their fields.
 * {@link Packed2OthersDecoder} is its mirror.
 */
final class Packed2OthersEncoder {
  private final Packed2Streams streams;

  Packed2OthersEncoder(Packed2Streams streams) {
    this.streams = streams;
  }

  /**
   * Packs the other records of a batch.
   *
   * @param graph takes the records of the graph
   */
  void encode(RecordBatch batch, RecordBatch graph) {
    ByteSink runs = streams.sinks[OTHER_RUNS];
    int count = batch.size();
    int at = 0;
    while (at < count) {
      int first = at;
      while (first < count && RecordBatch.isOfGraph(batch.kind[first])) {
        first++;
      }
      graph.addAll(batch, at, first);
      if (first == count) {
        break;
      }
      byte kind = batch.kind[first];
      if (!RecordBatch.isKind(kind)) {
        throw new IllegalArgumentException("record " + first + " is of kind " + kind);
      }
      int end = first + 1;
      while (end < count && batch.kind[end] == kind) {
        end++;
      }
      runs.reserve(16);
      runs.varint(first - at);
      runs.put(kind);
      runs.varint(end - first - 1);
      fields(batch, first, end);
      at = end;
    }
  }

  private void fields(RecordBatch batch, int first, int end) {
    ByteSink fields = streams.sinks[OTHER_FIELDS];
    for (int i = first; i < end; i++) {
      fields.reserve(64);
      fields.varint(batch.time[i] - (i == 0 ? 0 : batch.time[i - 1]));
      fields.zigzag(batch.depth[i]);
      fields.zigzag(batch.selfPc[i]);
      fields.zigzag(batch.fromPc[i]);
      fields.zigzag(batch.retP[i]);
      fields.zigzag(batch.fp[i]);
    }
  }
}
