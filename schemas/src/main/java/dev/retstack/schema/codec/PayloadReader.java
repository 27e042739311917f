package dev.retstack.schema.codec;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;

/**
 * The wrapping that the packed codecs share, undone: content as it is, or in one zstd frame.
 *
 * <pre>
 *  payload   00 | content
 *            01 | varint size | zstd frame    one frame without dictionary; size = bytes of content
 * </pre>
 *
 * The bit above may be set too, where the codec gives it a meaning.
 */
final class PayloadReader implements ScratchPool.Scratch {
  /** First byte of the payload: the content follows as it is. */
  static final int PLAIN = 0;

  /** First byte of the payload: its size as a varint and one zstd frame follow. */
  static final int ZSTD = 1;

  /** Bit of the first byte that a codec may set for the payloads it wants to tell apart. */
  static final int MARKED = 2;

  private static final int KEPT_BYTES_MAX = 1 << 20;

  private final ZstdDecompressCtx zstd = new ZstdDecompressCtx();
  private byte[] inflated = new byte[0];
  private byte[] content;
  private int from;
  private int to;
  private boolean marked;

  /**
   * Finds the content of a payload; the payload must stay as it is while that is read.
   *
   * @param sizeMax bytes that the content may have at most
   */
  void open(byte[] payload, long sizeMax) throws CorruptChunkException {
    ByteSource source = new ByteSource(payload, 0, payload.length);
    int flag = source.get();
    marked = (flag & MARKED) != 0;
    switch (flag & ~MARKED) {
      case PLAIN -> {
        content = payload;
        from = source.position();
        to = payload.length;
      }
      case ZSTD -> inflate(payload, source, sizeMax);
      default -> throw new CorruptChunkException("unknown payload flag " + flag);
    }
  }

  private void inflate(byte[] payload, ByteSource source, long sizeMax)
      throws CorruptChunkException {
    long size = source.varint();
    if (size < 0 || size > sizeMax) {
      throw new CorruptChunkException(
          "unpacked size "
              + Long.toUnsignedString(size)
              + " is more than the "
              + sizeMax
              + " bytes that the records can take");
    }
    int at = source.position();
    int length = source.remaining();
    ZstdFrame.check(payload, at, length);
    if (inflated.length < size) {
      inflated = new byte[(int) size];
    }
    int got;
    try {
      got = zstd.decompressByteArray(inflated, 0, (int) size, payload, at, length);
    } catch (ZstdException e) {
      throw new CorruptChunkException("zstd refuses the payload: " + e.getMessage(), e);
    }
    if (got != size) {
      throw new CorruptChunkException("payload unpacks to " + got + " bytes, not " + size);
    }
    content = inflated;
    from = 0;
    to = got;
  }

  /** Whether the codec set {@link #MARKED}; one that never does must ask. */
  boolean isMarked() {
    return marked;
  }

  /** The bytes among which the content stands, from {@link #from} to {@link #to}. */
  byte[] content() {
    return content;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  @Override
  public boolean isOutsized() {
    return inflated.length > KEPT_BYTES_MAX;
  }

  @Override
  public void release() {
    zstd.close();
  }
}
