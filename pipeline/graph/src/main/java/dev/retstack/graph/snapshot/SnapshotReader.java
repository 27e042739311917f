package dev.retstack.graph.snapshot;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;

/** Reads what {@link SnapshotWriter} framed; anything else is an {@link IOException}. */
public final class SnapshotReader {
  private final CRC32C crc = new CRC32C();
  private final DataInput raw;
  private final DataInput in;

  /** Where the snapshot begins in bytes that are at hand. */
  private final int from;

  /** A snapshot of this version; any other is an {@link IOException}. */
  public SnapshotReader(DataInput raw, int version) throws IOException {
    this.raw = raw;
    if (raw instanceof ByteInput bytes) {
      this.in = bytes;
      this.from = bytes.position();
    } else {
      this.in = new DataInputStream(new CheckedInputStream(new Source(raw), crc));
      this.from = 0;
    }
    int magic = in.readInt();
    if (magic != SnapshotWriter.MAGIC) {
      throw new IOException("not a snapshot: starts with 0x" + Integer.toHexString(magic));
    }
    int found = in.readUnsignedByte();
    if (found != version) {
      throw new IOException(
          "state of version %d, this program reads version %d".formatted(found, version));
    }
  }

  /** The version of a snapshot, by its first bytes; empty where they do not begin one. */
  public static OptionalInt versionOf(byte[] snapshot) {
    ByteBuffer head = ByteBuffer.wrap(snapshot);
    return head.remaining() > Integer.BYTES && head.getInt() == SnapshotWriter.MAGIC
        ? OptionalInt.of(head.get() & 0xff)
        : OptionalInt.empty();
  }

  /** Where the body comes from. */
  public DataInput body() {
    return in;
  }

  /** Checks the checksum; call it before anything read is used. */
  public void finish() throws IOException {
    if (raw instanceof ByteInput bytes) {
      bytes.sum(crc, from);
    }
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
