package dev.retstack.schema.codec;

import com.github.luben.zstd.Zstd;
import java.util.Arrays;

/**
 * Codec {@code packed1}: shadow-stack coding. The encoder runs the same ret_stack as the reader, so
 * an exit that is as its frame foretells costs one time varint, and an entry over a known call edge
 * a time varint and the edge's number. Everything else is coded in full: lossless for any field
 * values. The packed bytes go through zstd level 1 where that makes them smaller.
 */
public final class Packed1Codec implements ChunkCodec {
  private static final int ZSTD_LEVEL = 1;

  /** Below this zstd's frame costs more than it saves. */
  private static final int ZSTD_BYTES_MIN = 64;

  /** Flag and size before a zstd frame. */
  private static final int HEADER_BYTES_MAX = 11;

  private final ScratchPool<PayloadReader> readers = new ScratchPool<>(PayloadReader::new);

  @Override
  public String id() {
    return "packed1";
  }

  @Override
  public byte[] encode(RecordBatch batch) {
    ByteSink packed = new Packed1Encoder(batch.size()).encode(batch);
    if (packed.size() >= ZSTD_BYTES_MIN) {
      byte[] squeezed = squeeze(packed);
      if (squeezed.length <= packed.size()) {
        return squeezed;
      }
    }
    byte[] plain = new byte[1 + packed.size()];
    plain[0] = PayloadReader.PLAIN;
    System.arraycopy(packed.array(), 0, plain, 1, packed.size());
    return plain;
  }

  private static byte[] squeeze(ByteSink packed) {
    int sizeMax = (int) Zstd.compressBound(packed.size());
    ByteSink out = new ByteSink(HEADER_BYTES_MAX + sizeMax);
    out.put(PayloadReader.ZSTD);
    out.varint(packed.size());
    int size =
        (int)
            Zstd.compressByteArray(
                out.array(), out.size(), sizeMax, packed.array(), 0, packed.size(), ZSTD_LEVEL);
    return Arrays.copyOf(out.array(), out.size() + size);
  }

  @Override
  public void decode(byte[] payload, int count, RecordBatch into) throws CorruptChunkException {
    into.clear();
    Codecs.checkCount(count, into);
    PayloadReader reader = readers.take();
    try {
      reader.open(payload, (long) count * Packed1Layout.RECORD_BYTES_MAX);
      if (reader.isMarked()) {
        throw new CorruptChunkException("payload is marked, as none of this codec is");
      }
      ByteSource source = reader.source();
      if (source.remaining() < count) {
        throw new CorruptChunkException(
            count + " records cannot stand in " + source.remaining() + " bytes");
      }
      new Packed1Decoder(source, count, into).decode(count);
      Codecs.checkEnd(source);
    } finally {
      readers.give(reader);
    }
  }
}
