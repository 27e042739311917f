package dev.retstack.graph.snapshot;

import java.io.DataOutput;
import java.io.IOException;
import java.util.zip.CRC32C;

/**
 * Frames a state: magic, version byte, body, CRC-32C of everything before it. {@link #finish}
 * writes the checksum; without it the snapshot cannot be read.
 */
public final class SnapshotWriter {
  static final int MAGIC = 0x72677330;

  private static final int ROOM = 1 << 16;

  private final DataOutput to;
  private final ByteOutput out;
  private final int from;

  /** Begins a snapshot, which goes to {@code to} at its end; into a {@link ByteOutput} at once. */
  public SnapshotWriter(DataOutput to, int version) throws IOException {
    this.to = to;
    this.out = to instanceof ByteOutput bytes ? bytes : new ByteOutput(ROOM);
    this.from = out.size();
    out.writeInt(MAGIC);
    out.writeByte(version);
  }

  /** Where the body goes. */
  public DataOutput body() {
    return out;
  }

  /** Ends the snapshot. */
  public void finish() throws IOException {
    CRC32C crc = new CRC32C();
    out.sum(crc, from);
    out.writeLong(crc.getValue());
    if (to != out) {
      to.write(out.take());
    }
  }
}
