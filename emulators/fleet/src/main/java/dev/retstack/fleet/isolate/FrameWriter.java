package dev.retstack.fleet.isolate;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Sends frames. Safe for use by several threads; a call that waits is backpressure.
 *
 * <pre>
 *  0                4                8        9
 *  +----------------+----------------+--------+---------
 *  | bytes from 8 on| CRC-32C of them| kind   | body ...
 *  +----------------+----------------+--------+---------      numbers big-endian
 * </pre>
 */
final class FrameWriter {
  static final int HEADER_BYTES = 9;

  private final OutputStream out;

  FrameWriter(OutputStream out) {
    this.out = out;
  }

  void write(Frame frame) throws IOException {
    byte[] body = frame.body();
    byte[] bytes = new byte[HEADER_BYTES + body.length];
    bytes[8] = (byte) frame.kind().code();
    System.arraycopy(body, 0, bytes, HEADER_BYTES, body.length);
    CRC32C crc = new CRC32C();
    crc.update(bytes, 8, bytes.length - 8);
    ByteBuffer.wrap(bytes).putInt(bytes.length - 8).putInt((int) crc.getValue());
    synchronized (out) {
      out.write(bytes);
      out.flush();
    }
  }
}
