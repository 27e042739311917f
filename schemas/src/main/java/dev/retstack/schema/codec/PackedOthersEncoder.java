package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/**
 * Packs the records of a chunk that are not of the graph: where they stand, and what they hold.
 * {@link PackedOthersDecoder} is its mirror.
 */
final class PackedOthersEncoder {
  private final PackedStreams streams;
  private final PackedFieldsEncoder fields;
  private final PackedArcsEncoder arcs;

  PackedOthersEncoder(PackedStreams streams) {
    this.streams = streams;
    fields = new PackedFieldsEncoder(streams);
    arcs = new PackedArcsEncoder(streams, fields);
  }

  /**
   * Packs the other records of a batch.
   *
   * @param graph takes the records of the graph
   */
  void encode(RecordBatch batch, RecordBatch graph) {
    ByteSink runs = streams.sinks[RUNS];
    int count = batch.size();
    fields.reset();
    arcs.reset(count);
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
      if (kind == RecordBatch.FUNCTION) {
        arcs.run(batch, first, end);
      } else {
        for (int i = first; i < end; i++) {
          fields.record(batch, i);
        }
      }
      at = end;
    }
  }
}
