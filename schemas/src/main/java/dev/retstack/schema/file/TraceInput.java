package dev.retstack.schema.file;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** A file read once from front to back, with offset and running CRC-32C of what was taken. */
final class TraceInput implements Closeable {
  private static final int FIRST_BYTES = 1 << 16;

  private final InputStream in;
  private final byte[] buffer = new byte[1 << 16];
  private int at;
  private int limit;
  private final CRC32C crc = new CRC32C();
  private long offset;
  private byte[] bytes = new byte[FIRST_BYTES];

  TraceInput(InputStream in) {
    this.in = in;
  }

  /** Bytes taken so far. */
  long offset() {
    return offset;
  }

  /** CRC-32C of the bytes taken so far. */
  long crc32c() {
    return crc.getValue();
  }

  /** Takes one byte, 0 to 255; -1 at the end. */
  int read() throws IOException {
    if (at == limit && !fill()) {
      return -1;
    }
    int b = buffer[at++] & 0xff;
    crc.update(b);
    offset++;
    return b;
  }

  /**
   * Takes up to {@code count} bytes into {@link #bytes()}; memory grows with what really comes.
   *
   * @return how many came; fewer than {@code count} only at the end of the file
   */
  int take(int count) throws IOException {
    int taken = 0;
    while (taken < count && (at < limit || fill())) {
      int more = Math.min(count - taken, limit - at);
      if (taken + more > bytes.length) {
        bytes = Arrays.copyOf(bytes, (int) Math.min(2L * bytes.length, count));
      }
      System.arraycopy(buffer, at, bytes, taken, more);
      at += more;
      taken += more;
    }
    crc.update(bytes, 0, taken);
    offset += taken;
    return taken;
  }

  /** What {@link #take} filled; valid up to the next call. */
  byte[] bytes() {
    return bytes;
  }

  private boolean fill() throws IOException {
    at = 0;
    limit = Math.max(in.read(buffer), 0);
    return limit > 0;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
