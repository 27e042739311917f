package dev.retstack.schema.file;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;

/** Counts and sums the bytes that have reached the file. */
final class ChecksumOutput extends FilterOutputStream {
  private final CRC32C crc = new CRC32C();
  private long count;

  ChecksumOutput(OutputStream out) {
    super(out);
  }

  long count() {
    return count;
  }

  long crc32c() {
    return crc.getValue();
  }

  @Override
  public void write(int b) throws IOException {
    out.write(b);
    crc.update(b);
    count++;
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    out.write(bytes, from, length);
    crc.update(bytes, from, length);
    count += length;
  }
}
