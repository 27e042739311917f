package dev.retstack.graph.snapshot;

import java.io.BufferedOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/**
 * Frames a state: magic, version byte, body, CRC-32C of everything before it. {@link #finish}
 * writes the checksum; without it the snapshot cannot be read.
 */
public final class SnapshotWriter {
  static final int MAGIC = 0x72677330;

  private final CRC32C crc = new CRC32C();
  private final DataOutput raw;
  private final DataOutputStream out;

  public SnapshotWriter(DataOutput raw, int version) throws IOException {
    this.raw = raw;
    this.out =
        new DataOutputStream(new BufferedOutputStream(new CheckedOutputStream(new Sink(raw), crc)));
    out.writeInt(MAGIC);
    out.writeByte(version);
  }

  /** Where the body goes. */
  public DataOutput body() {
    return out;
  }

  /** Ends the snapshot. */
  public void finish() throws IOException {
    out.flush();
    raw.writeLong(crc.getValue());
  }

  private static final class Sink extends OutputStream {
    private final DataOutput to;

    Sink(DataOutput to) {
      this.to = to;
    }

    @Override
    public void write(int b) throws IOException {
      to.write(b);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      to.write(bytes, offset, length);
    }
  }
}
