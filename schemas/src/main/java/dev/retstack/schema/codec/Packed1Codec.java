package dev.retstack.schema.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
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
    plain[0] = Packed1Layout.PLAIN;
    System.arraycopy(packed.array(), 0, plain, 1, packed.size());
    return plain;
  }

  private static byte[] squeeze(ByteSink packed) {
    int sizeMax = (int) Zstd.compressBound(packed.size());
    ByteSink out = new ByteSink(HEADER_BYTES_MAX + sizeMax);
    out.put(Packed1Layout.ZSTD);
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
    ByteSource source = unwrap(payload, count);
    if (source.remaining() < count) {
      throw new CorruptChunkException(
          count + " records cannot stand in " + source.remaining() + " bytes");
    }
    new Packed1Decoder(source, count, into).decode(count);
    Codecs.checkEnd(source);
  }

  private static ByteSource unwrap(byte[] payload, int count) throws CorruptChunkException {
    ByteSource source = new ByteSource(payload, 0, payload.length);
    int flag = source.get();
    return switch (flag) {
      case Packed1Layout.PLAIN -> source;
      case Packed1Layout.ZSTD -> inflate(payload, source, count);
      default -> throw new CorruptChunkException("unknown payload flag " + flag);
    };
  }

  private static ByteSource inflate(byte[] payload, ByteSource source, int count)
      throws CorruptChunkException {
    long size = source.varint();
    long sizeMax = (long) count * Packed1Layout.RECORD_BYTES_MAX;
    if (size < 0 || size > sizeMax) {
      throw new CorruptChunkException(
          "unpacked size "
              + Long.toUnsignedString(size)
              + " is more than "
              + count
              + " records can take");
    }
    int from = source.position();
    int length = source.remaining();
    ZstdFrame.check(payload, from, length);
    byte[] packed = new byte[(int) size];
    long got;
    try {
      got = Zstd.decompressByteArray(packed, 0, packed.length, payload, from, length);
    } catch (ZstdException e) {
      throw new CorruptChunkException("zstd refuses the payload: " + e.getMessage(), e);
    }
    if (got != size) {
      throw new CorruptChunkException("payload unpacks to " + got + " bytes, not " + size);
    }
    return new ByteSource(packed, 0, packed.length);
  }
}
