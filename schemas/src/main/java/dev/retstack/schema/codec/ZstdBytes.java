package dev.retstack.schema.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/** Bytes compressed by zstd as one frame (RFC 8878), for callers that keep the size themselves. */
public final class ZstdBytes {
  private static final int LEVEL = 1;

  private ZstdBytes() {}

  /** Compresses them. */
  public static byte[] pack(byte[] bytes) {
    return Zstd.compress(bytes, LEVEL);
  }

  /**
   * Compresses what stands in these pieces, each from its start to its limit, as one frame that
   * does not state its size.
   */
  public static void pack(Iterable<ByteBuffer> pieces, OutputStream to) throws IOException {
    try (OutputStream zstd = new ZstdOutputStreamNoFinalizer(to, LEVEL)) {
      for (ByteBuffer piece : pieces) {
        zstd.write(piece.array(), piece.arrayOffset(), piece.limit());
      }
    }
  }

  /**
   * What was compressed.
   *
   * @param size bytes that it has
   * @throws CorruptChunkException where the frame is damaged, or is of another size
   */
  public static byte[] unpack(byte[] frame, int size) throws CorruptChunkException {
    byte[] bytes = new byte[size];
    try {
      long got = Zstd.decompress(bytes, frame);
      if (got != size) {
        throw new CorruptChunkException("zstd frame of " + got + " bytes, not " + size);
      }
    } catch (ZstdException e) {
      throw new CorruptChunkException("zstd refuses the frame: " + e.getMessage(), e);
    }
    return bytes;
  }
}
