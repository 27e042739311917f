package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Supplier;

/**
 * Codec {@code packed}: predictive coding. Encoder and decoder run the same model of the core: its
 * ret_stack, and for each place in the program what followed it and how long that took. A record
 * that was predicted costs no bytes, or one bit if two successors are usual. Any other record is
 * coded field by field, so no value is lost. {@code schemas/PACKED.md} specifies the format.
 *
 * <p>This is own code because no general compressor knows the ret_stack. zstd packs what the model
 * leaves.
 *
 * <p>Safe for use by several threads: each call has its own encoder or decoder.
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
    ChunkCodec.clear(into, count);
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
  private static final class Packer implements Scratch {
    private final PackedStreams streams = new PackedStreams();
    private final PackedEncoder graph = new PackedEncoder(streams);
    private final PackedOthersEncoder others = new PackedOthersEncoder(streams);

    /** The records of the graph, out of a batch that holds others too. */
    private RecordBatch part = new RecordBatch(0);

    /** The payload of a chunk that holds the batch. */
    byte[] pack(RecordBatch batch) {
      if (batch.size() == 0) {
        return new byte[] {PLAIN};
      }
      streams.reset(batch.size());
      if (batch.isOfGraph()) {
        graph.encode(batch);
        return streams.payload(false);
      }
      part = cleared(part, batch.size());
      others.encode(batch, part);
      graph.encode(part);
      return streams.payload(true);
    }

    @Override
    public boolean isOutsized() {
      return streams.isOutsized() || graph.isOutsized() || part.capacity() > KEPT_RECORDS_MAX;
    }

    @Override
    public void release() {
      streams.release();
    }
  }

  /** Unpacks one chunk after the other; mirror of {@link Packer}. */
  private static final class Unpacker implements Scratch {
    private final PackedSource source = new PackedSource();
    private final PackedDecoder graph = new PackedDecoder(source);
    private final PackedOthersDecoder others = new PackedOthersDecoder(source);

    /** The records of the graph, where the chunk holds others too. */
    private RecordBatch part = new RecordBatch(0);

    /** Unpacks the payload of a chunk of {@code count} records into an empty batch. */
    void unpack(byte[] payload, int count, RecordBatch into) throws CorruptChunkException {
      if (count == 0) {
        if (payload.length != 1 || payload[0] != PLAIN) {
          throw new CorruptChunkException(
              "payload of " + payload.length + " bytes, of a chunk without records");
        }
        return;
      }
      source.open(payload, count);
      if (source.isMarked()) {
        int ofGraph = count - others.open(count);
        part = cleared(part, ofGraph);
        graph.decode(ofGraph, part);
        others.decode(part, into);
      } else {
        graph.decode(count, into);
      }
      source.checkEnd();
    }

    @Override
    public boolean isOutsized() {
      return source.isOutsized() || graph.isOutsized() || part.capacity() > KEPT_RECORDS_MAX;
    }

    @Override
    public void release() {
      source.release();
    }
  }

  /** A batch without records that has room for {@code records}: the given one, or a new one. */
  private static RecordBatch cleared(RecordBatch batch, int records) {
    if (records > batch.capacity()) {
      return new RecordBatch(records);
    }
    batch.clear();
    return batch;
  }

  /** What is kept. */
  private interface Scratch {
    /** True where a large chunk made it too big to be kept. */
    boolean isOutsized();

    /** Gives back memory outside the heap. */
    void release();
  }

  /**
   * Encoders or decoders that keep their tables and their memory outside the heap from chunk to
   * chunk. One works for one thread at a time; idle ones wait here, a few for each processor.
   */
  private static final class ScratchPool<T extends Scratch> {
    private final ArrayBlockingQueue<T> idle =
        new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());
    private final Supplier<T> maker;

    ScratchPool(Supplier<T> maker) {
      this.maker = maker;
    }

    /** Takes an object that is not in use; the caller gives it back. */
    T take() {
      T kept = idle.poll();
      return kept == null ? maker.get() : kept;
    }

    void give(T scratch) {
      if (scratch.isOutsized() || !idle.offer(scratch)) {
        scratch.release();
      }
    }
  }
}
