package dev.retstack.schema.codec;

/**
 * Codec {@code packed2}: predictive coding. Encoder and decoder run the same model of the core: its
 * ret_stack, and for each place in the program what came next the last times and how long it took.
 * A record that comes as foretold costs nothing, or one bit where two successors are usual; what
 * cannot be foretold is coded explicitly, field by field: lossless for any field values. {@code
 * schemas/PACKED2.md} specifies the format.
 *
 * <p>Safe for several threads: each call has an encoder or decoder to itself.
 */
public final class Packed2Codec implements ChunkCodec {
  private final ScratchPool<Packed2Packer> packers = new ScratchPool<>(Packed2Packer::new);
  private final ScratchPool<Packed2Unpacker> unpackers = new ScratchPool<>(Packed2Unpacker::new);

  @Override
  public String id() {
    return "packed2";
  }

  @Override
  public byte[] encode(RecordBatch batch) {
    Packed2Packer packer = packers.take();
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
    Packed2Unpacker unpacker = unpackers.take();
    try {
      unpacker.unpack(payload, count, into);
    } finally {
      unpackers.give(unpacker);
    }
  }
}
