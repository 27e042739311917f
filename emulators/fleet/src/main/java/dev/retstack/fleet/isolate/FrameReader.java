package dev.retstack.fleet.isolate;

import dev.retstack.schema.wire.ConfluentFrame;
import java.io.IOException;
import java.io.InputStream;
import java.io.StreamCorruptedException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Receives what {@link FrameWriter} sent; for one thread. */
final class FrameReader {
  /** A frame at most: a chunk and the number of its core. */
  private static final int FRAME_BYTES_MAX = ConfluentFrame.MESSAGE_BYTES_MAX + 64;

  private static final int LENGTH_AND_CRC_BYTES = 8;

  private final InputStream in;

  FrameReader(InputStream in) {
    this.in = in;
  }

  /**
   * The next frame.
   *
   * @return null at the end, also where it comes in the middle of a frame: the sender died
   * @throws StreamCorruptedException for bytes that are no frame
   */
  Frame read() throws IOException {
    byte[] header = in.readNBytes(LENGTH_AND_CRC_BYTES);
    if (header.length < LENGTH_AND_CRC_BYTES) {
      return null;
    }
    int length = ByteBuffer.wrap(header).getInt();
    int expected = ByteBuffer.wrap(header).getInt(4);
    if (length < 1 || length > FRAME_BYTES_MAX) {
      throw new StreamCorruptedException(
          "frame of %d bytes: expected 1 to %d".formatted(length, FRAME_BYTES_MAX));
    }
    byte[] bytes = in.readNBytes(length); // memory grows with what comes
    if (bytes.length < length) {
      return null;
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    if ((int) crc.getValue() != expected) {
      throw new StreamCorruptedException(
          "frame of %d bytes: CRC-32C expected %08x, received %08x"
              .formatted(length, expected, (int) crc.getValue()));
    }
    byte[] body = new byte[length - 1];
    System.arraycopy(bytes, 1, body, 0, body.length);
    return new Frame(Frame.Kind.of(bytes[0] & 0xff), body);
  }
}
