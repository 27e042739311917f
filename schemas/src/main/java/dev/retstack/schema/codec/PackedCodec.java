package dev.retstack.schema.codec;

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
  private final ScratchPool<PackedPacker> packers = new ScratchPool<>(PackedPacker::new);
  private final ScratchPool<PackedUnpacker> unpackers = new ScratchPool<>(PackedUnpacker::new);

  @Override
  public String id() {
    return "packed";
  }

  @Override
  public byte[] encode(RecordBatch batch) {
    PackedPacker packer = packers.take();
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
    PackedUnpacker unpacker = unpackers.take();
    try {
      unpacker.unpack(payload, count, into);
    } finally {
      unpackers.give(unpacker);
    }
  }
}
