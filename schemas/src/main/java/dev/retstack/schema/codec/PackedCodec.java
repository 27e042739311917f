package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/**
 * Codec {@code packed}: predictive coding. Encoder and decoder run the same model of the core: its
 * ret_stack, and for each place in the program what came next the last times and how long it took.
 * A record that comes as foretold costs nothing, or one bit where two successors are usual; what
 * cannot be foretold is coded explicitly, field by field: lossless for any field values. {@code
 * schemas/PACKED.md} specifies the format.
 *
 * <p>Safe for several threads: each call has an encoder or decoder to itself.
 */
public final class PackedCodec implements ChunkCodec {
  private final ScratchPool<Packer> packers = new ScratchPool<>(Packer::new);
  private final ScratchPool<Unpacker> unpackers = new ScratchPool<>(Unpacker::new);

  @Override
  public String id() {
    return "packed";
  }

  @Override
  public byte[] encode(RecordBatch batch) {
    Packer packer = packers.take();
    try {
      return packer.pack(batch);
    } finally {
      packers.give(packer);
    }
  }

  @Override
  public void decode(byte[] payload, int count, RecordBatch into) throws CorruptChunkException {
    into.clear();
    Codecs.checkCount(count, into);
    Unpacker unpacker = unpackers.take();
    try {
      unpacker.unpack(payload, count, into);
    } finally {
      unpackers.give(unpacker);
    }
  }

  /**
   * Packs one chunk after the other: the records of the graph by {@link PackedEncoder}, those of
   * other kinds by {@link PackedOthersEncoder}, all streams into one payload.
   */
  private static final class Packer implements ScratchPool.Scratch {
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

  /** Unpacks one chunk after the other; mirror of {@link Packer}. */
  private static final class Unpacker implements ScratchPool.Scratch {
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
}
