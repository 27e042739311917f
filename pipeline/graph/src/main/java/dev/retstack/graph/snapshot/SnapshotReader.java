package dev.retstack.graph.snapshot;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;

/** Reads what {@link SnapshotWriter} framed; whatever is not that is an {@link IOException}. */
public final class SnapshotReader {
  private final CRC32C crc = new CRC32C();
  private final DataInput raw;
  private final DataInputStream in;

  public SnapshotReader(DataInput raw, int version) throws IOException {
    this.raw = raw;
    this.in = new DataInputStream(new CheckedInputStream(new Source(raw), crc));
    int magic = in.readInt();
    if (magic != SnapshotWriter.MAGIC) {
      throw new IOException("not a snapshot: starts with 0x" + Integer.toHexString(magic));
    }
    int found = in.readUnsignedByte();
    if (found != version) {
      throw new IOException(
          "snapshot of version %d, this program reads version %d: replay from the topic"
              .formatted(found, version));
    }
  }

  /** Where the body comes from. */
  public DataInput body() {
    return in;
  }

  /** Checks the checksum; call it before anything read is used. */
  public void finish() throws IOException {
    long computed = crc.getValue();
    if (raw.readLong() != computed) {
      throw new IOException("corrupt snapshot: checksum differs");
    }
  }

  private static final class Source extends InputStream {
    private final DataInput from;

    Source(DataInput from) {
      this.from = from;
    }

    @Override
    public int read() throws IOException {
      try {
        return from.readUnsignedByte();
      } catch (EOFException e) {
        return -1;
      }
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      from.readFully(bytes, offset, length);
      return length;
    }
  }
}
