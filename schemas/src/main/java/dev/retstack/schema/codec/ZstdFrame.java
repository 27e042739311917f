package dev.retstack.schema.codec;

/**
 * Checks the outer form of a zstd frame (RFC 8878, 3.1.1): the bytes must be exactly one frame
 * without a dictionary, and every block must end inside it. This is own code because the library
 * ignores unused bits, and accepts several frames and skippable ones.
 *
 * <pre>
 *  magic      4  28 b5 2f fd
 *  descriptor 1  bits 7-6 size of content size · 5 single segment · 4 unused, 0 · 3 reserved, 0
 *                · 2 checksum · 1-0 dictionary, 0
 *  window     1  unless single segment
 *  content    0, 1, 2, 4 or 8
 *  block      3  little-endian: bit 0 last · bits 2-1 type (0 raw, 1 one byte repeated, 2 packed)
 *                · the rest size; then its bytes; repeated up to the last block
 *  checksum   4  where bit 2 says so
 * </pre>
 */
public final class ZstdFrame {
  private static final int MAGIC = 0xfd2fb528;
  private static final int HEADER_BYTES_MIN = 5;

  private ZstdFrame() {}

  /**
   * Accepts exactly one frame in {@code bytes[from, from + length)}.
   *
   * @return the frame header's descriptor byte
   */
  public static int check(byte[] bytes, int from, int length) throws CorruptChunkException {
    if (length < HEADER_BYTES_MIN || littleEndian(bytes, from, 4) != MAGIC) {
      throw new CorruptChunkException("no zstd frame in the " + length + " bytes at " + from);
    }
    int descriptor = bytes[from + 4] & 0xff;
    if ((descriptor & 0b0001_1011) != 0) {
      throw new CorruptChunkException(
          "zstd frame descriptor 0x" + Integer.toHexString(descriptor) + " has unused bits set");
    }
    boolean singleSegment = (descriptor & 0b0010_0000) != 0;
    int contentSizeBytes =
        switch (descriptor >>> 6) {
          case 0 -> singleSegment ? 1 : 0;
          case 1 -> 2;
          case 2 -> 4;
          default -> 8;
        };
    int end = from + length - ((descriptor & 0b100) != 0 ? 4 : 0);
    int at = from + HEADER_BYTES_MIN + (singleSegment ? 0 : 1) + contentSizeBytes;
    boolean last = false;
    while (!last) {
      if (end - at < 3) {
        throw new CorruptChunkException("zstd frame ends inside a block header at " + at);
      }
      int header = littleEndian(bytes, at, 3);
      last = (header & 1) != 0;
      int type = (header >>> 1) & 3;
      int size = type == 1 ? 1 : header >>> 3;
      at += 3;
      if (type == 3 || size > end - at) {
        throw new CorruptChunkException("zstd block before " + at + " is not inside the frame");
      }
      at += size;
    }
    if (at != end) {
      throw new CorruptChunkException((end - at) + " bytes follow the zstd frame at " + at);
    }
    return descriptor;
  }

  private static int littleEndian(byte[] bytes, int at, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
      value |= (bytes[at + i] & 0xff) << (8 * i);
    }
    return value;
  }
}
