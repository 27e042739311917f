package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/**
 * Packs one chunk after the other: the records of the graph by {@link PackedEncoder}, those of
 * other kinds by {@link PackedOthersEncoder}, all streams into one payload.
 */
final class PackedPacker implements ScratchPool.Scratch {
  private final PackedStreams streams = new PackedStreams();
  private final PayloadWriter writer = new PayloadWriter();
  private final PackedEncoder graph = new PackedEncoder(streams);
  private final PackedOthersEncoder others = new PackedOthersEncoder(streams);

  /** The records of the graph, out of a batch that holds others too. */
  private RecordBatch part = new RecordBatch(0);

  /** The payload of a chunk that holds the batch. */
  byte[] pack(RecordBatch batch) {
    if (batch.size() == 0) {
      return new byte[] {PayloadReader.PLAIN};
    }
    streams.reset(batch.size());
    if (batch.isOfGraph()) {
      graph.encode(batch);
      return streams.wrap(writer, false);
    }
    part = part.cleared(batch.size());
    others.encode(batch, part);
    graph.encode(part);
    return streams.wrap(writer, true);
  }

  @Override
  public boolean isOutsized() {
    return streams.isOutsized() || graph.isOutsized() || part.capacity() > KEPT_RECORDS_MAX;
  }

  @Override
  public void release() {
    writer.release();
  }
}
