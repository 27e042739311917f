package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/** Unpacks one chunk after the other; mirror of {@link PackedPacker}. */
final class PackedUnpacker implements ScratchPool.Scratch {
  private final PackedSource source = new PackedSource();
  private final PayloadReader reader = new PayloadReader();
  private final PackedDecoder graph = new PackedDecoder(source);
  private final PackedOthersDecoder others = new PackedOthersDecoder(source);

  /** The records of the graph, where the chunk holds others too. */
  private RecordBatch part = new RecordBatch(0);

  /** Unpacks the payload of a chunk of {@code count} records into an empty batch. */
  void unpack(byte[] payload, int count, RecordBatch into) throws CorruptChunkException {
    if (count == 0) {
      if (payload.length != 1 || payload[0] != PayloadReader.PLAIN) {
        throw new CorruptChunkException(
            "payload of " + payload.length + " bytes, of a chunk without records");
      }
      return;
    }
    reader.open(payload, HEADER_BYTES_MAX + (long) count * RECORD_BYTES_MAX);
    source.open(reader.content(), reader.from(), reader.to(), count, reader.isMarked());
    if (reader.isMarked()) {
      int ofGraph = count - others.open(count);
      part = part.cleared(ofGraph);
      graph.decode(ofGraph, part);
      others.decode(part, into);
    } else {
      graph.decode(count, into);
    }
    source.checkEnd();
  }

  @Override
  public boolean isOutsized() {
    return reader.isOutsized() || graph.isOutsized() || part.capacity() > KEPT_RECORDS_MAX;
  }

  @Override
  public void release() {
    reader.release();
  }
}
