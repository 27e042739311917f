package dev.retstack.schema.file;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.avro.AvroSource;
import dev.retstack.schema.codec.CorruptChunkException;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/** Writes entries of a trace, a block for each, and sums what it has written. */
final class TraceOutput implements Closeable {
  private final ChecksumOutput out;
  private final byte[] sync;
  private final ByteArrayOutputStream entryBytes = new ByteArrayOutputStream(1 << 16);
  private boolean broken;

  private TraceOutput(OutputStream file, byte[] sync) {
    out = new ChecksumOutput(file);
    this.sync = sync;
  }

  /**
   * Begins a trace.
   *
   * @param sync the marker; null for any
   */
  static TraceOutput begin(OutputStream file, byte[] sync) throws IOException {
    TraceOutput output = new TraceOutput(file, sync == null ? anyMarker() : sync);
    output.out.write(TraceFormat.HEADERS.getFirst());
    output.out.write(output.sync);
    return output;
  }

  private static byte[] anyMarker() {
    UUID any = UUID.randomUUID();
    return ByteBuffer.allocate(TraceFormat.SYNC_BYTES)
        .putLong(any.getMostSignificantBits())
        .putLong(any.getLeastSignificantBits())
        .array();
  }

  /** Continues a trace from its end. */
  static TraceOutput behind(OutputStream file, byte[] sync) {
    return new TraceOutput(file, sync);
  }

  /** Bytes written so far. */
  long count() {
    return out.count;
  }

  /** CRC-32C of all that was written. */
  long crc32c() {
    return out.crc.getValue();
  }

  /** CRC-32C of the last entry. */
  long blockCrc32c() {
    return out.blockCrc.getValue();
  }

  /** Whether a write failed. */
  boolean isBroken() {
    return broken;
  }

  /** Writes an entry; it has reached the file on return. */
  void append(TraceEntry entry) throws IOException {
    if (broken) {
      throw new IOException("an earlier write failed: the trace ends there");
    }
    entryBytes.reset();
    entry.writeTo(entryBytes);
    byte[] bytes = entryBytes.toByteArray();
    refuseUnreadable(bytes);
    broken = true;
    out.blockCrc.reset();
    out.write(block(bytes));
    out.flush();
    broken = false;
  }

  /** A block of one entry. */
  private byte[] block(byte[] entry) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream(entry.length / 2 + (1 << 10));
    try (ZstdOutputStreamNoFinalizer zstd =
        new ZstdOutputStreamNoFinalizer(packed, TraceFormat.ZSTD_LEVEL)) {
      zstd.setChecksum(true);
      zstd.write(entry);
    }
    ByteArrayOutputStream block = new ByteArrayOutputStream(packed.size() + (1 << 6));
    TraceFormat.putLong(block, 1);
    TraceFormat.putLong(block, packed.size());
    packed.writeTo(block);
    block.writeBytes(sync);
    return block.toByteArray();
  }

  /** What the reader would refuse must not be written, or a user finds out too late. */
  private static void refuseUnreadable(byte[] bytes) {
    if (bytes.length > TraceFormat.ENTRY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "entry of "
              + bytes.length
              + " bytes: at most "
              + TraceFormat.ENTRY_BYTES_MAX
              + " can be read back");
    }
    try {
      AvroSource.check(new TraceEntry(), bytes, 0, bytes.length);
    } catch (CorruptChunkException e) {
      throw new IllegalArgumentException("entry could not be read back: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  /** Counts and sums the bytes that have reached the file. */
  private static final class ChecksumOutput extends FilterOutputStream {
    private final CRC32C crc = new CRC32C();
    private final CRC32C blockCrc = new CRC32C();
    private long count;

    ChecksumOutput(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      out.write(b);
      crc.update(b);
      blockCrc.update(b);
      count++;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      crc.update(bytes, from, length);
      blockCrc.update(bytes, from, length);
      count += length;
    }
  }
}
