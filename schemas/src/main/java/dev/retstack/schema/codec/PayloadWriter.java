package dev.retstack.schema.codec;

import com.github.luben.zstd.EndDirective;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.nio.ByteBuffer;

/**
 * Wraps content into a payload, as {@link PayloadReader} undoes it: in a zstd frame where that is
 * smaller. The frame's blocks end where the content's nature changes, so that each has a code of
 * its own; a reader need not know.
 */
final class PayloadWriter {
  private static final int ZSTD_LEVEL = 1;

  /** Shorter matches hardly ever occur in what is left to code, and looking for them takes time. */
  private static final int MATCH_BYTES_MIN = 7;

  /** Below this zstd's frame costs more than it saves. */
  private static final int ZSTD_BYTES_MIN = 64;

  /** Flag and size before a zstd frame. */
  private static final int HEADER_BYTES_MAX = 6;

  /** A block's header and what it may grow by. */
  private static final int BLOCK_BYTES_MAX = 64;

  private final ZstdCompressCtx zstd = new ZstdCompressCtx();
  private ByteBuffer content = ByteBuffer.allocateDirect(0);
  private ByteBuffer payload = ByteBuffer.allocateDirect(0);

  /** An empty buffer for so many bytes of content. */
  ByteBuffer content(int size) {
    if (content.capacity() < size) {
      content = ByteBuffer.allocateDirect(size);
    }
    return content.clear();
  }

  /**
   * The payload of what stands in the buffer of {@link #content} up to its position.
   *
   * @param mark 0 or {@link PayloadReader#MARKED}
   * @param cuts offsets at which a block ends, rising
   * @param cutCount how many of them
   */
  byte[] payload(int mark, int[] cuts, int cutCount) {
    int size = content.position();
    content.flip();
    if (size >= ZSTD_BYTES_MIN) {
      squeeze(mark, size, cuts, cutCount);
      if (payload.position() <= size) {
        return bytes(payload.flip(), new byte[payload.limit()], 0);
      }
    }
    byte[] plain = new byte[1 + size];
    plain[0] = (byte) (mark | PayloadReader.PLAIN);
    return bytes(content.position(0).limit(size), plain, 1);
  }

  private static byte[] bytes(ByteBuffer from, byte[] to, int offset) {
    from.get(to, offset, to.length - offset);
    return to;
  }

  private void squeeze(int mark, int size, int[] cuts, int cutCount) {
    int sizeMax =
        HEADER_BYTES_MAX + (int) Zstd.compressBound(size) + BLOCK_BYTES_MAX * (cutCount + 1);
    if (payload.capacity() < sizeMax) {
      payload = ByteBuffer.allocateDirect(sizeMax);
    }
    payload.clear().put((byte) (mark | PayloadReader.ZSTD));
    int rest = size;
    while (rest > 0x7f) {
      payload.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    payload.put((byte) rest);
    zstd.reset();
    zstd.setLevel(ZSTD_LEVEL).setMinMatch(MATCH_BYTES_MIN).setPledgedSrcSize(size);
    for (int i = 0; i < cutCount; i++) {
      content.limit(cuts[i]);
      step(EndDirective.FLUSH);
    }
    content.limit(size);
    step(EndDirective.END);
  }

  private void step(EndDirective directive) {
    if (!zstd.compressDirectByteBufferStream(payload, content, directive)) {
      throw new IllegalStateException(
          "zstd did not finish: " + payload.remaining() + " bytes of room left");
    }
  }

  void release() {
    zstd.close();
  }
}
